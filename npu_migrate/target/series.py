"""One fact over all known releases as a short string: a letter a release, oldest first, the last letter repeating.

``"..N"`` says: unknown to the two oldest releases, native since. A new release therefore changes only the lines of
what it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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


class Column(Mapping[str, str]):
    """One release's letters in a table of series, read where they are asked for: most names never are."""

    def __init__(self, table: Mapping[str, str], column: int) -> None:
        """``column`` is the release's place."""
        self._table = table
        self._column = column

    def __getitem__(self, name: str) -> str:
        """The letter; a name that the release lacks is none."""
        letter = at(self._table[name], self._column)
        if letter == ABSENT:
            raise KeyError(name)
        return letter

    def __iter__(self) -> Iterator[str]:
        """The names that the release has."""
        return (name for name, series in self._table.items() if at(series, self._column) != ABSENT)

    def __len__(self) -> int:
        """How many they are."""
        return sum(1 for _ in self)
