"""The few facts about operators that neither torch's list nor Huawei's documents tell: ``tables.toml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_migrate import tomlfile

if TYPE_CHECKING:
    from npu_migrate.target import Operator


@cache
def words(name: str) -> frozenset[str]:
    """One of the lists."""
    listed: dict[str, list[str]] = _tables()["lists"]
    return frozenset(listed[name])


def condition(overload: str) -> dict[str, Any] | None:
    """When a call chooses an overload; None for one that needs no telling apart."""
    found: dict[str, Any] | None = _tables()["overloads"].get(overload.removesuffix("_out"))
    return found


def others(name: str) -> tuple[str, ...]:
    """Other names for the same result; none for most."""
    found: dict[str, list[str]] = _tables()["instead"]
    return tuple(found.get(name, ()))


def writes(one: Operator) -> bool:
    """Whether an overload is the one that ``out=`` chooses."""
    overload = one.name.partition(".")[2]
    return overload.endswith("out") or overload in words("out")


@cache
def _tables() -> dict[str, Any]:
    return tomlfile.read(Path(__file__).with_suffix(".toml"))
