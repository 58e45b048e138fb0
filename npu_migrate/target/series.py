"""One fact over all known releases as a short string: a letter a release, oldest first, the last letter repeating.

``"..N"`` says: unknown to the two oldest releases, native since. A new release therefore changes only the lines of
what it changes.
"""

from __future__ import annotations

ABSENT = "."


def at(series: str, column: int) -> str:
    """The letter for one release."""
    return series[column] if column < len(series) else series[-1:]


def join(letters: list[str]) -> str:
    """The shortest string that means these letters."""
    text = "".join(letters)
    return text.rstrip(text[-1]) + text[-1] if text else ""


def expand(series: str, width: int) -> list[str]:
    """The letters of all releases."""
    return [at(series, column) for column in range(width)]
