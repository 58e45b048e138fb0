"""Collects what an adapter finds in one text and turns offsets into lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.model import Finding, Span, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.model import Status

TIE = re.compile(r"cuda|nccl|cudnn", re.IGNORECASE)
"""What total accounting counts: each word with one of these ends inside some finding."""

LISTED = "names"
"""The fact that lists every site of a group, however long that gets."""

_AFTER = re.compile(r"[\w.:/+-]*")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_CLIP = 200
_CROWD = 20


class Mark(NamedTuple):
    """What is said of a site: a message of a rule and the status it brings."""

    rule: str
    key: str
    status: Status


class Note(NamedTuple):
    """One site before its offsets become lines."""

    start: int
    end: int
    mark: Mark
    symbol: str
    facts: tuple[tuple[str, str], ...]


class Sites:
    """The sites of one text: a whole file, or one cell of a notebook."""

    def __init__(self, path: str, text: str, cell: int | None = None) -> None:
        """Start an empty collection for ``text``."""
        self.text = text
        self.path = path
        self._cell = cell
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
        self._seen = bytearray(len(text))
        self._notes: list[Note] = []
        self._taken: list[Finding] = []
        self._crowds: dict[tuple[int, Mark, str, tuple[tuple[str, str], ...]], int] = {}

    def add(self, span: tuple[int, int], mark: Mark, symbol: str = "", **facts: str) -> None:
        """Take one site.

        The same site over and over on one line (a minified file) is counted up to a point and then stretched, so that
        a hostile line yields a report of human size.
        """
        start, end = span
        self._seen[start:end] = b"\1" * (end - start)
        carried = tuple((name, value if name == LISTED else clip(value)) for name, value in sorted(facts.items()))
        note = Note(start, end, mark, clip(symbol), carried)
        crowd = (self.line(start), mark, note.symbol, note.facts)
        met = self._crowds.get(crowd, 0)
        if met >= 0:
            self._crowds[crowd] = met + 1 if met + 1 < _CROWD else ~len(self._notes)
            self._notes.append(note)
        else:
            last = self._notes[~met]
            self._notes[~met] = last._replace(end=max(end, last.end))

    def covered(self, start: int, end: int) -> bool:
        """Whether a finding reaches over all of this stretch."""
        return 0 not in self._seen[start:end]

    def line(self, offset: int) -> int:
        """The 1-based line of an offset."""
        return bisect_right(self._starts, offset)

    def stay(self, span: tuple[int, int], mark: Mark) -> None:
        """Account for the words of a stretch that no finding holds yet: one site a line."""
        first = last = None
        for word in tie_words(self.text, *span):
            if all(self.covered(*tie.span()) for tie in TIE.finditer(self.text, *word)):
                continue
            if first and self.line(first[0]) != self.line(word[0]):
                self._stay(first, last, mark)
                first = None
            first, last = first or word, word
        self._stay(first, last, mark)

    def _stay(self, first: tuple[int, int] | None, last: tuple[int, int] | None, mark: Mark) -> None:
        if first and last:
            word = self.text[slice(*first)]
            self.add((first[0], last[1]), mark, word, word=word)

    def cell(self, source: str, number: int) -> Sites:
        """Start the collection of one cell of this notebook."""
        return Sites(self.path, source, number)

    def take(self, other: Sites) -> None:
        """Add what another collection of the same file found."""
        self._taken.extend(other.findings())

    def findings(self) -> list[Finding]:
        """Everything taken so far, in the order of reports."""
        own = (self._finding(note) for note in self._notes)
        return sorted([*self._taken, *own], key=lambda finding: finding.order)

    def _finding(self, note: Note) -> Finding:
        line, end_line = self.line(note.start), self.line(note.end)
        column, end_column = note.start - self._starts[line - 1] + 1, note.end - self._starts[end_line - 1] + 1
        whole = line == end_line and note.end - note.start <= _CLIP
        return Finding(
            rule=note.mark.rule,
            path=self.path,
            span=Span(line, column, end_line, end_column),
            status=note.mark.status,
            text=Text(note.mark.rule, note.mark.key, note.facts),
            symbol=note.symbol,
            before=self.text[note.start : note.end] if whole else "",
            cell=self._cell,
        )


def clip(value: str) -> str:
    """Keep a fact at a length that a sentence can carry."""
    return value if len(value) <= _CLIP else value[: _CLIP - 1] + "…"


def tie_words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Walk the words of a stretch that contain cuda, nccl or cudnn."""
    low = start
    for tie in TIE.finditer(text, start, end):
        if tie.start() < low:
            continue
        first = tie.start()
        while first > low and (text[first - 1].isalnum() or text[first - 1] in "_.:/+-"):
            first -= 1
        after = _AFTER.match(text, tie.end(), end)
        low = after.end() if after else tie.end()
        yield first, low
