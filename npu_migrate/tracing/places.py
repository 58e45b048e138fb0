"""Where in the model an operator runs, and where the one ran whose gradient is being computed."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary


class Place(NamedTuple):
    """A module by its dotted place and class; ``instead`` is what counts for the gradients of what runs there."""

    module: str = ""
    kind: str = ""
    instead: tuple[str, ...] = ()


OUTSIDE = Place()
_MOST = 1_000_000


class Places:
    """The modules that are running, and a history by the sequence numbers that autograd gives to its nodes.

    Nodes are numbered in the order they are made, so the last change before a node's number tells where it was made.
    """

    def __init__(self) -> None:
        """No module runs yet."""
        self._stack: list[Place] = []
        self._starts: list[int] = [0]
        self._history: list[Place] = [OUTSIDE]
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    @property
    def now(self) -> Place:
        """Where the program is."""
        return self._stack[-1] if self._stack else OUTSIDE

    def enter(self, place: Place, sequence: int) -> None:
        """Something begins to run."""
        self._stack.append(place)
        self._change(sequence)

    def leave(self, sequence: int) -> None:
        """It has ended, or has failed."""
        if self._stack:
            self._stack.pop()
        self._change(sequence)

    def at(self, sequence: int) -> tuple[int, Place]:
        """The place where a node was made, and the number of the first node of that stay."""
        found = max(bisect_right(self._starts, sequence) - 1, 0)
        return self._starts[found], self._history[found]

    def _change(self, sequence: int) -> None:
        if self._starts[-1] == sequence:
            self._history[-1] = self.now
            return
        self._starts.append(sequence)
        self._history.append(self.now)
        if len(self._starts) > _MOST:
            del self._starts[: _MOST // 2], self._history[: _MOST // 2]

    def name(self, module: Any) -> str:  # noqa: ANN401 - a module of torch, which is not imported here
        """The dotted place of a module: in the outermost one that was seen to run, or below the one that called it."""
        if module not in self._names:
            if self._stack:
                return _join(self.now.module, type(module).__name__)
            for path, inner in module.named_modules():
                self._names[inner] = _join(type(module).__name__, path)
        return self._names[module]


def _join(*parts: str) -> str:
    return ".".join(filter(None, parts))
