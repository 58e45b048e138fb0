"""Lists of names, written as prose."""

from __future__ import annotations


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()
