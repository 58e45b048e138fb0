"""What was seen: operators with the module, the phase and the tensors they ran for. Needs no torch."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from npu_migrate.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

PHASES = ("forward", "backward", "optimizer", "outside")
"""``outside`` of modules, gradients and optimizers: there much may be meant for the host."""
ENDS = ("finished", "steps", "failed", "time", "interrupted", "vanished")
"""``failed``: the program raised an error, ``vanished``: its process ended without a word (``os._exit``, a crash)."""


@dataclass(frozen=True)
class Use:
    """One operator in one module and phase.

    ``module`` is the dotted place in the model (``Net.layers.0``) and ``kind`` its class; both are empty outside of
    modules. ``inputs`` are the tensors of calls, each call once: ``float32[1,3,8,8], float32[4,3,1,1]``; ``more`` says
    that there were others. ``where`` is the line of the program that led there first.
    """

    operator: str
    phase: str
    module: str
    kind: str
    where: str
    count: int
    inputs: tuple[str, ...] = ()
    more: bool = False


@dataclass
class Trace:
    """One run. ``error`` is what a failed program raised, ``hint`` what that means, where it is known."""

    command: list[str]
    torch: str = ""
    device: str = "cpu"
    ended: str = "vanished"
    exit_code: int = 0
    steps: int = 0
    error: str = ""
    uses: list[Use] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many operators ran, each time counted."""
        return sum(use.count for use in self.uses)

    def by_operator(self) -> dict[str, list[Use]]:
        """The uses of each operator, in the order of names."""
        found: dict[str, list[Use]] = {}
        for use in sorted(self.uses, key=lambda one: (one.operator, PHASES.index(one.phase), one.module, one.where)):
            found.setdefault(use.operator, []).append(use)
        return found

    def data(self) -> dict[str, Any]:
        """The trace as plain data."""
        return asdict(self)


def read(path: Path) -> Trace:
    """The trace in the answer of ``ops trace --format json``.

    Raises:
        InputError: the file holds something else.
        OSError: it cannot be read.
    """
    try:
        return restored(json.loads(path.read_bytes())["trace"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(says="trace-unreadable", path=path) from error


def restored(data: dict[str, Any]) -> Trace:
    """The trace that ``data`` was made of.

    Raises:
        KeyError, TypeError, ValueError: it was made of something else.
    """
    uses = [Use(**{**one, "inputs": tuple(map(_text, one["inputs"]))}) for one in data["uses"]]
    trace = Trace(**{**data, "uses": uses})
    texts = [trace.torch, trace.device, trace.error, *trace.command]
    for use in uses:
        texts += [use.operator, use.module, use.kind, use.where]
        _choice(use.phase, PHASES)
        _number(use.count)
    _choice(trace.ended, ENDS)
    for number in (trace.exit_code, trace.steps):
        _number(number)
    for text in texts:
        _text(text)
    return trace


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError


def _choice(value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError
