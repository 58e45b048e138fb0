"""What the rehearsal asks the coverage database; nothing else here reads it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from npu_migrate import target
from npu_migrate.target.support import documented_types

if TYPE_CHECKING:
    from collections.abc import Iterable


class State(str, Enum):
    """How the target carries out an operator."""

    NATIVE = "native"
    DECOMPOSED = "decomposed"
    CPU_FALLBACK = "cpu-fallback"
    UNSUPPORTED = "unsupported"
    EMULATED = "emulated"
    UNKNOWN = "unknown"


_STATES = {
    target.OpStatus.NATIVE: State.NATIVE,
    target.OpStatus.FUNCTIONAL: State.NATIVE,
    target.OpStatus.COMPOSITE: State.DECOMPOSED,
    target.OpStatus.COMPOSITE_EXPLICIT: State.DECOMPOSED,
    target.OpStatus.CPU_FALLBACK: State.CPU_FALLBACK,
    target.OpStatus.MISSING: State.UNSUPPORTED,
}
_AUTOLOADS_SINCE = (2, 5)


class Facts:
    """One torch_npu release, as far as a rehearsal needs to know it."""

    def __init__(self, version: str | None = None) -> None:
        """Open the database at a release."""
        self._target = target.load(version)
        self.torch_npu: str = self._target.torch_npu
        self.torch: str = self._target.torch
        self.cann: str = self._target.cann

    @property
    def autoloads(self) -> bool:
        """Whether ``import torch`` loads torch_npu by itself."""
        major, minor = self.torch.split(".")[:2]
        return (int(major), int(minor)) >= _AUTOLOADS_SINCE

    def has(self, name: str) -> bool:
        """Whether the release has a ``torch_npu.*`` name."""
        return bool(self._target.has(name))

    def state(self, operator: str) -> State:
        """The state of ``aten::base.overload``."""
        known = self._target.operator(operator)
        return State.UNKNOWN if known is None else _STATES[known.status]

    def types(self, operator: str) -> tuple[str, frozenset[str]]:
        """A Python name of ``aten::base.overload`` and torch's names of the types that its documents give for A2."""
        return documented_types(self._target, operator)

    def registered(self, operators: Iterable[str]) -> list[str]:
        """Those operators for which the release registers a kernel of its own."""
        found = ((name, self._target.operator(name)) for name in operators)
        return [name for name, known in found if known is not None and known.status is target.OpStatus.NATIVE]
