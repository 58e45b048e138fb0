"""What becomes of a composite: the worst of what it calls in a release, down to the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.target.model import LETTERS, OpStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Written before a callee that only some runs showed.
SOMETIMES = "?"
_OPENED = ("C", "E")


def always(callees: Iterable[str]) -> tuple[str, ...]:
    """The callees of every run."""
    return tuple(name for name in callees if not name.startswith(SOMETIMES))


def sometimes(callees: Iterable[str]) -> tuple[str, ...]:
    """The callees that depend on the arguments."""
    return tuple(name[len(SOMETIMES) :] for name in callees if name.startswith(SOMETIMES))


def callees(name: str, table: Mapping[str, list[str]]) -> list[str]:
    """What an operator calls; an in-place or ``out=`` variant that was not traced calls what its plain form does."""
    if name in table:
        return table[name]
    base, _, overload = name.partition(".")
    plain = overload.removesuffix("out").removesuffix("_")
    sibling = f"{base.removesuffix('_')}.{plain}".removesuffix(".")
    return table.get(sibling, []) if sibling != name else []


def worst(
    name: str, letters: Mapping[str, str], table: Mapping[str, list[str]], opened: frozenset[str] = frozenset()
) -> tuple[OpStatus, str]:
    """The worst status under an operator, and the overload that has it; its own where nothing below is worse."""
    status, because = LETTERS[letters[name]], ""
    if letters[name] not in _OPENED:
        return status, because
    for callee in always(callees(name, table)):
        if callee not in letters or callee in opened:
            continue
        below, deeper = worst(callee, letters, table, opened | {name})
        if below.rank > status.rank:
            status, because = below, deeper or callee
    return status, because
