"""What a run found, and one writer a format."""
