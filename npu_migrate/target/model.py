"""What the reader hands out: one operator, one Python name, one custom operator, and how each stands in a release."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class OpStatus(str, Enum):
    """How a release runs one aten overload; the order is from best to worst."""

    NATIVE = "native"
    FUNCTIONAL = "functional-over-native"
    COMPOSITE = "composite"
    COMPOSITE_EXPLICIT = "composite-explicit"
    CPU_FALLBACK = "cpu-fallback"
    MISSING = "missing"

    @property
    def rank(self) -> int:
        """0 for what needs no word, 1 for a CPU fallback, 2 for missing."""
        return {"cpu-fallback": 1, "missing": 2}.get(self.value, 0)


# The letters of ``operators.json``. Lower case: a default kernel that forwards to the overload named ``via``; ``O``: a
# kernel that replaces a composite, and with it what the composite would have called forward and backward.
LETTERS = {
    "N": OpStatus.NATIVE,
    "O": OpStatus.NATIVE,
    "n": OpStatus.FUNCTIONAL,
    "C": OpStatus.COMPOSITE,
    "E": OpStatus.COMPOSITE_EXPLICIT,
    "F": OpStatus.CPU_FALLBACK,
    "f": OpStatus.CPU_FALLBACK,
    "X": OpStatus.MISSING,
    "x": OpStatus.MISSING,
}


@dataclass(frozen=True)
class Operator:
    """One aten overload in one release.

    ``via`` names the overload that decides, if it is another one. ``calls`` is what a composite was seen to run every
    time, ``sometimes`` what depends on the arguments; ``worst`` is the worst status below it, ``because`` who has it.
    """

    name: str
    status: OpStatus
    via: str = ""
    hidden: bool = False
    cuda: bool = False
    calls: tuple[str, ...] = ()
    sometimes: tuple[str, ...] = ()
    worst: OpStatus = OpStatus.NATIVE
    because: str = ""

    @property
    def base(self) -> str:
        """The name without its overload."""
        return self.name.split(".")[0]


@dataclass(frozen=True)
class PythonApi:
    """A callable of torch (``torch.linalg.inv``) and the operators behind it.

    ``calls`` were seen in every traced run, ``sometimes`` in some; ``backward`` is what every run's gradient needs,
    of which only those are kept that some release lacks or runs on the CPU.
    """

    name: str
    overloads: tuple[Operator, ...]
    calls: tuple[Operator, ...] = ()
    sometimes: tuple[Operator, ...] = ()
    backward: tuple[Operator, ...] = ()

    @property
    def decisive(self) -> Operator | None:
        """The operator with the worst status in a plain call.

        ``out=`` overloads count only where nothing else is. Of what depends on the arguments, the best counts.
        """
        plain = tuple(one for one in self.overloads if not one.name.endswith("out")) or self.overloads
        certain = (*self.calls, *plain)
        if not certain:
            return min(self.sometimes, key=lambda one: one.worst.rank, default=None)
        return max(certain, key=lambda one: one.worst.rank)

    @property
    def worst(self) -> OpStatus:
        """The status of the decisive operator."""
        return self.decisive.worst if self.decisive else OpStatus.NATIVE

    @property
    def worst_backward(self) -> OpStatus:
        """The worst status in the gradient of a plain call."""
        return max((one.worst for one in self.backward), key=lambda status: status.rank, default=OpStatus.NATIVE)


@dataclass(frozen=True)
class CudaName:
    """What a ``torch.cuda.*`` name becomes.

    ``npu`` is ``None`` where no name corresponds; ``exists`` says whether this release has it; ``known`` whether this
    release's torch has the ``torch.cuda`` name. ``instead`` does the job although it is called otherwise.
    """

    name: str
    npu: str | None
    exists: bool
    known: bool = True
    instead: str = ""


@dataclass(frozen=True)
class CustomOp:
    """An operator that torch_npu adds (``torch_npu.npu_rms_norm``)."""

    name: str
    schemas: tuple[str, ...]


@dataclass(frozen=True)
class Release:
    """One wheel of torch_npu. ``cann`` is empty and ``listed`` false where Huawei's table does not have it."""

    torch_npu: str
    torch: str
    cann: str
    python: tuple[str, ...]
    listed: bool
    legacy: bool = False
