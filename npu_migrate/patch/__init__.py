"""Turns changed bytes into a changed tree: in place with an undo record, as a copy, or as a diff."""
