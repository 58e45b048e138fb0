"""Collects what an adapter finds in one text and turns offsets into lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import NamedTuple

from npu_migrate.files.tables import marks_of_a_line
from npu_migrate.literals import occurrences
from npu_migrate.model import Finding, Span, Status, Text
from npu_migrate.suppressions import ENGINE, Suppressions

TIE = re.compile(r"cuda|nccl|cudnn", re.IGNORECASE)
"""What total accounting counts: each word with one of these ends inside some finding."""

LISTED = "names"
"""The fact that lists every site of a group, however long that gets."""

LINE_CROWD = 20
FILE_CROWD = 1000
"""How many findings that say the same are listed for one line and for one file."""

_AFTER = re.compile(r"[\w.:/+-]*")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_CLIP = 200


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
    comment: str = ""


class Sites:
    """The sites of one text: a whole file, or one cell of a notebook."""

    def __init__(self, path: str, text: str, cell: int | None = None, comments: Suppressions | None = None) -> None:
        """Start an empty collection for ``text``; ``comments`` keep the rules away from some of its lines."""
        self.text = text
        self.path = path
        self._cell = cell
        self._comments = comments or Suppressions()
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
        self._seen = bytearray(len(text))
        self._notes: list[Note] = []
        self._taken: list[Finding] = []
        self._crowds: dict[tuple[int, Mark, str, tuple[tuple[str, str], ...], str], tuple[int, int]] = {}

    def add(self, span: tuple[int, int], mark: Mark, symbol: str = "", **facts: str) -> None:
        """Take one site.

        The same site over and over (a minified file, a generated one) is listed up to a point; then the last one is
        stretched over the rest, so that a hostile file yields a report of human size.
        """
        start, end = span
        self._seen[start:end] = b"\1" * (end - start)
        carried = tuple((name, value if name == LISTED else clip(value)) for name, value in sorted(facts.items()))
        note = Note(start, end, mark, clip(symbol), carried, self.comment(mark, start))
        said = (mark, note.symbol, note.facts, note.comment)
        crowds = (((self.line(start), *said), LINE_CROWD), ((0, *said), FILE_CROWD))
        for crowd, most in crowds:
            count, index = self._crowds.get(crowd, (0, 0))
            if count >= most:
                self._stretch(index, end)
                return
        for crowd, _ in crowds:
            self._crowds[crowd] = (self._crowds.get(crowd, (0, 0))[0] + 1, len(self._notes))
        self._notes.append(note)

    def comment(self, mark: Mark, start: int) -> str:
        """The comment that keeps a rule away from the line on which a site begins; empty without one."""
        if mark.status is Status.KEPT:
            return ""
        line = self.line(start)
        return self._comments.covering(mark.rule, line, line) or ""

    def _stretch(self, index: int, end: int) -> None:
        last = self._notes[index]
        if end > last.end:
            self._seen[last.end : end] = b"\1" * (end - last.end)
            self._notes[index] = last._replace(end=end)

    def covered(self, start: int, end: int) -> bool:
        """Whether a finding reaches over all of this stretch."""
        return 0 not in self._seen[start:end]

    @cached_property
    def _ties(self) -> list[int] | None:
        low = self.text.lower()
        if len(low) != len(self.text):
            return None
        return sorted(at for literal in marks_of_a_line() for at in occurrences(low, literal))

    def concern(self, start: int, end: int) -> bool:
        """Whether a stretch could have a finding at all: most lines of a script or a configuration could not."""
        ties = self._ties
        if ties is None:
            return True
        index = bisect_left(ties, start)
        return index < len(ties) and ties[index] < end

    def line(self, offset: int) -> int:
        """The 1-based line of an offset."""
        return bisect_right(self._starts, offset)

    def stay(self, span: tuple[int, int], mark: Mark) -> None:
        """Account for the words of a stretch that no finding holds yet: one site a line."""
        first: tuple[int, int] | None = None
        last, line_end, seen = (0, 0), 0, self._seen
        for tie in TIE.finditer(self.text, *span):
            start, end = tie.span()
            if seen[start] and seen[end - 1]:
                continue
            if first and start >= line_end:
                self._stay(first, last, span, mark)
                first = None
            if first is None:
                first, line_end = (start, end), self._line_end(start)
            last = (start, end)
        if first:
            self._stay(first, last, span, mark)

    def _stay(self, first: tuple[int, int], last: tuple[int, int], within: tuple[int, int], mark: Mark) -> None:
        start, stop = word_around(self.text, first, within)
        word = self.text[start:stop]
        self.add((start, word_around(self.text, last, within)[1]), mark, word, word=word)

    def _line_end(self, offset: int) -> int:
        line = self.line(offset)
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def copy(self, text: str) -> Sites:
        """Start a collection for another spelling of this text, of the same length; what is covered is shared."""
        other = Sites(self.path, text, self._cell)
        other._seen = self._seen
        return other

    def cell(self, source: str, number: int) -> Sites:
        """Start the collection of one cell of this notebook."""
        return Sites(self.path, source, number, Suppressions.of_other(source))

    def take(self, other: Sites) -> None:
        """Add what another collection of the same file found."""
        self._taken.extend(other.findings())

    def findings(self) -> list[Finding]:
        """Everything taken so far, in the order of reports."""
        own = (self._finding(note) for note in self._notes)
        idle = self._comments.unused(self.path, self._cell)
        return sorted([*self._taken, *own, *idle], key=lambda finding: finding.order)

    def _finding(self, note: Note) -> Finding:
        line, end_line = self.line(note.start), self.line(note.end)
        column, end_column = note.start - self._starts[line - 1] + 1, note.end - self._starts[end_line - 1] + 1
        whole = line == end_line and note.end - note.start <= _CLIP
        text = Text(note.mark.rule, note.mark.key, note.facts)
        if note.comment:
            text = Text(ENGINE, "suppressed", (("comment", note.comment),))
        return Finding(
            rule=note.mark.rule,
            path=self.path,
            span=Span(line, column, end_line, end_column),
            status=Status.SUPPRESSED if note.comment else note.mark.status,
            text=text,
            symbol=note.symbol,
            before=self.text[note.start : note.end] if whole else "",
            cell=self._cell,
        )


def clip(value: str) -> str:
    """Keep a fact at a length that a sentence can carry."""
    return value if len(value) <= _CLIP else value[: _CLIP - 1] + "…"


def word_around(text: str, tie: tuple[int, int], within: tuple[int, int]) -> tuple[int, int]:
    """The word that a tie is part of: a name, a path, an image, a URL."""
    first = tie[0]
    while first > within[0] and (text[first - 1].isalnum() or text[first - 1] in "_.:/+-"):
        first -= 1
    after = _AFTER.match(text, tie[1], within[1])
    return first, after.end() if after else tie[1]
