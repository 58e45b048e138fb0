"""The names about which a release has something to say at all: what the inspectors look for."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from npu_migrate.operators.tables import words, writes
from npu_migrate.target import store
from npu_migrate.target.support import denied, support
from npu_migrate.target.target import CALLED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.target import Operator, Target


# torch.distributions.gamma.Gamma
_CLASS_DEPTH = 3


@lru_cache(maxsize=4)
def interesting(target: Target) -> frozenset[str]:
    """The last names of all functions, classes and methods whose operators are missing, fall back, or are denied."""
    denials = (name for name in denied(target.torch) if target.python_api(name) is not None)
    skipped = words("harmless") | words("elsewhere")
    found = {name for name in (*_python(target), *denials, *_distributions(target), *CALLED) if name not in skipped}
    last = {name.rpartition(".")[2] for name in found}
    return frozenset(f"{name}(" if name in words("common_methods") else name for name in last)


def _python(target: Target) -> Iterator[str]:
    """The Python names over operators that are missing or fall back, and the operators' own for ``torch.ops``.

    What only ``out=`` would make slow is left out: programs that write so are too rare to look at every ``max`` for.
    """
    bad = {one.name for one in target.doubtful() if counts(one)}
    bases = {name.split(".")[0] for name in bad}
    yield from bases
    yield from target.python_apis(bases)
    calls = store.table("calls")
    for part in ("forward", "backward"):
        for name, callees in calls.get(part, {}).items():
            if ":" not in name and not bad.isdisjoint(callees):
                yield name


def _distributions(target: Target) -> Iterator[str]:
    for name in store.table("support").get("apis", {}):
        if name.startswith("torch.distributions.") and name.count(".") == _CLASS_DEPTH:
            documented = support(target.torch, name)
            if documented is not None and documented.fallback:
                yield name


def counts(one: Operator) -> bool:
    """Whether plain calls can meet an operator, and what is said about it holds for dense tensors."""
    return not writes(one) and words("other_layouts").isdisjoint((one.base, one.because))
