"""From a tree of files to edits and findings; prints nothing, exits nowhere, knows no terminal."""
