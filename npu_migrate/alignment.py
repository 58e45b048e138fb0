"""Which lines of a new text are those of the old one.

``difflib`` takes the longest run of equal lines first and, from 200 lines on, looks at no line that is frequent. In
code whose lines repeat (``)``, an empty one) it shows lines as changed that are not. Here the fewest possible lines are
changed (Myers, "An O(ND) Difference Algorithm", 1986).
"""

from __future__ import annotations

from collections.abc import Hashable
from difflib import Match, SequenceMatcher
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The cost grows with the square of the differences. After so many, the path that got furthest is taken to be right.
_PATIENCE = 400
Line = TypeVar("Line", bound=Hashable)


class Alignment(SequenceMatcher[Line]):
    """A ``SequenceMatcher`` over lines whose opcodes are the shortest ones."""

    def __init__(self, old: Sequence[Line], new: Sequence[Line]) -> None:
        """Align two lists of lines."""
        super().__init__(None, old, new, autojunk=False)
        self._old, self._new = old, new
        self._blocks: list[Match] | None = None

    def get_matching_blocks(self) -> list[Match]:
        """The runs of equal lines, and an empty one at the end, as ``difflib`` has it."""
        if self._blocks is None:
            self._blocks = [*_joined(_runs(self._old, self._new)), Match(len(self._old), len(self._new), 0)]
        return self._blocks


def _runs(old: Sequence[Line], new: Sequence[Line]) -> Iterator[tuple[int, int, int]]:
    x = y = 0
    while x < len(old) and y < len(new):
        x, y, chain = _furthest(old, new, x, y)
        found = []
        while chain:
            chain, *run = chain
            found.append(tuple(run))
        yield from reversed(found)


def _furthest(old: Sequence[Line], new: Sequence[Line], x: int, y: int) -> tuple[int, int, Any]:
    """Where one gets from a place with the fewest differences: to the end, or far; and the chain of equal runs so far.

    A diagonal ``k`` holds the places ``(x, x + shift - k)``.
    """
    shift = y - x
    reached: dict[int, tuple[int, Any]] = {1: (x, None)}
    best = (x, y, None)
    for differences in range(_PATIENCE):
        for k in range(-differences, differences + 1, 2):
            down = k == -differences or (k != differences and reached[k - 1][0] < reached[k + 1][0])
            x, chain = reached[k + 1] if down else (reached[k - 1][0] + 1, reached[k - 1][1])
            start, y = x, x + shift - k
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            if x > start:
                chain = (chain, start, start + shift - k, x - start)
            reached[k] = (x, chain)
            if x <= len(old) and y <= len(new) and x + y > best[0] + best[1]:
                best = (x, y, chain)
        if best[:2] == (len(old), len(new)):
            break
    return best


def _joined(runs: Iterator[tuple[int, int, int]]) -> list[Match]:
    joined: list[Match] = []
    for a, b, size in runs:
        last = joined[-1] if joined else Match(-1, -1, 0)
        if (last.a + last.size, last.b + last.size) == (a, b):
            joined[-1] = Match(last.a, last.b, last.size + size)
        else:
            joined.append(Match(a, b, size))
    return joined
