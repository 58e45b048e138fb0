"""Unified diffs as a list of changes: which lines go, which come."""

from __future__ import annotations

import re
from itertools import count, groupby
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.model import Status
from npu_migrate.patch.diff import display, unified_diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.model import FileResult

HEAD, KEPT, GONE, COME = "@", " ", "-", "+"
_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Line(NamedTuple):
    """One line of a diff: its mark, its text, and its numbers; on the side that lacks it, that of the line after."""

    mark: str
    old: int
    new: int
    text: str


class Hunk(NamedTuple):
    """A run of lines that is replaced. ``first`` is the old number of the first, or of the line that it goes before."""

    first: int
    old: tuple[str, ...]
    new_first: int
    new: tuple[str, ...]

    @property
    def last(self) -> int:
        """The old number of the last line; below ``first`` where lines are only added."""
        return self.first + len(self.old) - 1

    def touches(self, first: int, last: int) -> bool:
        """Whether it replaces one of these old lines."""
        return self.first <= last and first <= self.last


def lines(diff: str) -> Iterator[Line]:
    """Every line of a file's hunks, and each hunk's head. What fits no hunk is left out."""
    old = new = old_left = new_left = 0
    for text in diff.split("\n"):
        head = _HEAD.match(text) if old_left <= 0 and new_left <= 0 else None
        if head:
            old, old_left, new, new_left = (1 if group is None else int(group) for group in head.groups())
            # Git names the line before where a side is empty.
            old, new = old + (old_left == 0), new + (new_left == 0)
            yield Line(HEAD, old, new, text)
            continue
        mark = text[:1] or KEPT
        step_old, step_new = int(mark in (KEPT, GONE)), int(mark in (KEPT, COME))
        if (step_old or step_new) and old_left >= step_old and new_left >= step_new:
            yield Line(mark, old, new, text[1:])
            old, old_left = old + step_old, old_left - step_old
            new, new_left = new + step_new, new_left - step_new


def parse(diff: str) -> list[Hunk]:
    """The runs of changed lines, without the lines around them."""
    found: list[Hunk] = []
    for changed, run in groupby(lines(diff), lambda line: line.mark in (GONE, COME)):
        if changed:
            rows = list(run)
            gone = tuple(row.text for row in rows if row.mark == GONE)
            come = tuple(row.text for row in rows if row.mark == COME)
            found.append(Hunk(rows[0].old, gone, rows[0].new, come))
    return found


def of(file: FileResult) -> list[Hunk]:
    """What a run does to a file, as finely as its findings allow."""
    if not file.changed:
        return []
    spans = [(one.span.line, one.span.end_line) for one in file.findings if one.status is Status.REWRITTEN]
    return split(parse(display(unified_diff(file.path, file.old, file.new), file.encoding)), spans)


def split(hunks: Iterable[Hunk], spans: Iterable[tuple[int, int]]) -> list[Hunk]:
    """Take runs apart, line by line, where each line answers findings of its own (``spans``: first and last line)."""
    known = set(spans)
    alone = {first for first, last in known if first == last}
    alone -= {line for first, last in known if first != last for line in range(first, last + 1)}
    found: list[Hunk] = []
    for hunk in hunks:
        numbers = range(hunk.first, hunk.last + 1)
        if len(hunk.old) == len(hunk.new) and alone.issuperset(numbers):
            rows = zip(numbers, hunk.old, count(hunk.new_first), hunk.new)
            found += (Hunk(first, (old,), new_first, (new,)) for first, old, new_first, new in rows)
        else:
            found.append(hunk)
    return found
