"""What a release makes of the operators of a trace."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from npu_migrate.target import OpStatus
from npu_migrate.target.query import operator_facts
from npu_migrate.target.support import documented_types

if TYPE_CHECKING:
    from npu_migrate.target import Operator, Target
    from npu_migrate.tracing.trace import Trace, Use

GROUPS = ("missing", "cpu-fallback", "unknown", "composite", "native")
"""What becomes of an operator, worst first; ``unknown``: torch's list for the release does not have it."""
TROUBLE = ("missing", "cpu-fallback", "unknown", "types")
"""What there is to tell; ``types``: runs, but for a type that the documents do not name."""
_GROUP = {
    OpStatus.NATIVE: "native",
    OpStatus.FUNCTIONAL: "native",
    OpStatus.COMPOSITE: "composite",
    OpStatus.COMPOSITE_EXPLICIT: "composite",
    OpStatus.CPU_FALLBACK: "cpu-fallback",
    OpStatus.MISSING: "missing",
}


# They hand storage on without computing; what type it has makes no difference to a device.
_NO_WORK = frozenset(
    "_reshape_alias _unsafe_view alias as_strided detach detach_ diagonal empty_like expand lift_fresh new_empty "
    "new_empty_strided permute select slice split split_with_sizes squeeze t transpose unbind unfold unsqueeze "
    "view".split()
)


@dataclass(frozen=True)
class Row:
    """One operator of a trace. ``types`` are those it met that the documents of ``documented`` leave out."""

    name: str
    group: str
    uses: tuple[Use, ...]
    operator: Operator | None = None
    documented: str = ""
    types: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        """How often it ran."""
        return sum(use.count for use in self.uses)

    @property
    def of_types(self) -> tuple[Use, ...]:
        """The uses that met one of ``types``."""
        return tuple(use for use in self.uses if not _first_types(use).isdisjoint(self.types))

    @property
    def because(self) -> str:
        """The overload that decides, where it is another one."""
        return (self.operator.because or self.operator.via) if self.operator else ""

    def facts(self) -> dict[str, Any]:
        """The JSON form."""
        found: dict[str, Any] = {"operator": self.name, "group": self.group, "calls": self.calls}
        if self.operator:
            found |= {key: value for key, value in operator_facts(self.operator).items() if key != "operator"}
        if self.types:
            found["undocumented_types"] = {"api": self.documented, "types": list(self.types)}
        return found


@dataclass(frozen=True)
class Coverage:
    """A trace and a release."""

    trace: Trace
    torch_npu: str
    torch: str
    rows: tuple[Row, ...]

    def counts(self) -> dict[str, int]:
        """How many operators each group has, worst first."""
        found = Counter(row.group for row in self.rows)
        return {group: found[group] for group in GROUPS}

    def trouble(self, kind: str) -> list[Row]:
        """The operators with one kind of trouble."""
        if kind == "types":
            return [row for row in self.rows if row.types and row.group in {"native", "composite"}]
        return [row for row in self.rows if row.group == kind]

    def modules(self) -> list[tuple[str, str, dict[str, int]]]:
        """Each module with its class, and how many different operators of it are in each group."""
        found: dict[tuple[str, str], dict[str, set[str]]] = {}
        for row in self.rows:
            for use in row.uses:
                if use.module:
                    found.setdefault((use.module, use.kind), {}).setdefault(row.group, set()).add(row.name)
        return [
            (module, kind, {group: len(names.get(group, ())) for group in GROUPS})
            for (module, kind), names in sorted(found.items())
        ]

    def data(self) -> dict[str, Any]:
        """The verdict as plain data."""
        summary = {"operators": len(self.rows), "calls": self.trace.calls, **self.counts()}
        return {
            "target": {"torch_npu": self.torch_npu, "torch": self.torch},
            "summary": summary,
            "operators": [row.facts() for row in self.rows],
        }


def judge(trace: Trace, target: Target) -> Coverage:
    """Look every operator of a trace up in a release; the rows come worst first."""
    rows = [_row(name, tuple(uses), target) for name, uses in trace.by_operator().items()]
    rows.sort(key=lambda row: (GROUPS.index(row.group), not row.types, row.name))
    return Coverage(trace, target.torch_npu, target.torch, tuple(rows))


def _row(name: str, uses: tuple[Use, ...], target: Target) -> Row:
    one = target.operator(name) if name.startswith("aten::") else None
    if one is None:
        return Row(name, "unknown", uses)
    named, taken = documented_types(target, name) if one.base not in _NO_WORK else ("", frozenset())
    first = {found for use in uses for found in _first_types(use)}
    return Row(name, _GROUP[one.worst], uses, one, named, tuple(sorted(first - taken)) if named else ())


def _first_types(use: Use) -> set[str]:
    return {text.partition("[")[0] for text in use.inputs if text}
