"""What the target release makes of one use: nothing to say for most."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from npu_migrate.operators.tables import condition, others, words, writes
from npu_migrate.operators.uses import Use, use_of
from npu_migrate.target.support import UNSUPPORTED, support
from npu_migrate.target.target import python_base
from npu_migrate.values.arguments import argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.work import Work
    from npu_migrate.target import Operator, PythonApi, Target


_SNAKE = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Kind(str, Enum):
    """What is wrong with a use, worst first."""

    MISSING = "missing"
    DOCUMENTED = "documented"
    DENIED = "denied"
    FALLBACK = "fallback"
    BACKWARD = "backward"
    SAID_TO = "said-to"


@dataclass(frozen=True)
class Problem:
    """Something to say about a use.

    ``operator`` is the overload that decides, ``because`` the one below it that has the status, where it is another.
    ``documents`` is the torch version whose documents speak.
    """

    use: Use
    kind: Kind
    operator: str = ""
    because: str = ""
    documents: str = ""
    instead: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Which message tells it."""
        if not self.use.sure:
            return f"{self.kind.value}-likely"
        return f"{self.kind.value}-instead" if self.instead else self.kind.value

    @property
    def facts(self) -> dict[str, str]:
        """What the message mentions."""
        found = {"name": self.use.name, "operator": self.decides, "documents": self.documents}
        return {**found, "instead": ", ".join(self.instead)}

    @property
    def decides(self) -> str:
        """The operator to name, with the one that calls it."""
        return f"aten::{self.because} (called by aten::{self.operator})" if self.because else f"aten::{self.operator}"


def problem_at(work: Work, node: ast.expr) -> Problem | None:
    """What is wrong with a node of a file; judged once, whoever asks."""
    known: dict[ast.expr, Problem | None] = work.module.fact("problems of operators", dict)
    if node not in known:
        use = use_of(work.module, node)
        known[node] = judge(work.settings.target, use) if use is not None else None
    return known[node]


def judge(target: Target, use: Use) -> Problem | None:
    """The worst that the release's kernels and Huawei's documents have to say about a use."""
    found = _judge(target, use)
    instead = others(use.name) if found is not None else ()
    if found is None or any(_judge(target, Use(name, None)) is not None for name in instead):
        return found
    return replace(found, instead=instead)


def _judge(target: Target, use: Use) -> Problem | None:
    if use.name.startswith("aten::"):
        return _direct(target, use)
    if use.name in words("harmless") or use.name in words("elsewhere"):
        return None
    api = target.python_api(use.name)
    one = decisive(api, use) if api is not None else None
    if one is not None and one.worst.rank:
        found = _problem(use, one)
        if found is not None:
            return found
    documented = support(target.torch, use.name)
    if api is not None and documented is not None and documented.status == UNSUPPORTED:
        # A status left over here is about dense tensors and says nothing of those that the call is about.
        known = one is not None and not one.worst.rank
        return Problem(use, Kind.DOCUMENTED if known else Kind.DENIED, documents=documented.documents)
    if api is None and use.name.startswith("torch.distributions."):
        return _distribution(target, use)
    if api is not None and use.sure and one is not None and not one.worst.rank:
        return next(_backward(use, api), None)
    return None


def _distribution(target: Target, use: Use) -> Problem | None:
    """Classes that no trace covers, of which the documents say that they may run on the CPU."""
    last = use.name.rpartition(".")[2]
    full = f"torch.distributions.{_SNAKE.sub('_', last).lower()}.{last}"
    documented = support(target.torch, full)
    if documented is None or not documented.fallback:
        return None
    return Problem(use, Kind.SAID_TO, documents=documented.documents)


def _direct(target: Target, use: Use) -> Problem | None:
    """``torch.ops.aten.x``: an overload, or the best of all."""
    one = target.operator(use.name)
    every = (one,) if one is not None else target.operators(use.name)
    worst = min(every, key=lambda other: other.worst.rank, default=None)
    return _problem(use, worst) if worst is not None and worst.worst.rank else None


def _problem(use: Use, one: Operator) -> Problem | None:
    """Missing or falling back; nothing is known of operators whose tensors have another layout."""
    because = one.because or one.via
    if (because or one.name).split(".")[0] in words("other_layouts"):
        return None
    if use.is_method and not python_base(use.name):
        return None
    kind = Kind.MISSING if one.worst.value == "missing" else Kind.FALLBACK
    other = because.split(".")[0].rstrip("_") != one.base.rstrip("_")
    return Problem(use, kind, one.name, because if other else "")


def _backward(use: Use, api: PythonApi) -> Iterator[Problem]:
    for one in api.backward:
        if one.worst.rank and words("other_layouts").isdisjoint((one.base, one.because)):
            yield Problem(use, Kind.BACKWARD, one.name, one.because)


def decisive(api: PythonApi, use: Use) -> Operator | None:
    """The worst of the overloads that the call can choose, and of what every call runs.

    An overload that the arguments ask for counts alone. Of those that write into ``out=`` the best counts: nothing
    tells them apart here.
    """
    given = use.call is not None and argument(use.call, "out") is not None
    chosen = [one for one in api.overloads if writes(one) is given and _chosen(one, use)]
    chosen = [one for one in chosen if condition(one.name)] or chosen
    if given and chosen:
        return min(chosen, key=lambda one: one.worst.rank)
    certain = (*api.calls, *chosen)
    if not certain:
        return min(api.sometimes, key=lambda one: one.worst.rank, default=None)
    return max(certain, key=lambda one: one.worst.rank)


def _chosen(one: Operator, use: Use) -> bool:
    needs = condition(one.name)
    if needs is None:
        return True
    if use.call is None:
        return False
    given = {keyword.arg for keyword in use.call.keywords}
    if given.intersection(needs.get("keywords", ())):
        return True
    if any(isinstance(each, ast.Starred) for each in use.call.args):
        return False
    count = len(use.call.args) + use.is_method
    if "only" in needs:
        return count == needs["only"] and not given - {"output_size"}
    return "positional" in needs and count >= needs["positional"]
