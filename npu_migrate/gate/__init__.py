"""What a team lets through: known findings, and the lines that a branch adds."""
