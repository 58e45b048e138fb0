"""Which release a tree is migrated to, and why; the sentences are in ``choice.toml``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from npu_migrate.model import Text
from npu_migrate.target import pins, releases

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RULE = "target"


@dataclass(frozen=True)
class Choice:
    """A release, the reason, and a remark about the release where there is one."""

    torch_npu: str
    reason: Text
    pin: pins.Pin | None = None
    remark: Text | None = None


def choose(root: Path, torch_npu: str | None = None) -> Choice:
    """The release asked for; else the newest for the tree's own torch pin, or its series; else the newest known."""
    if torch_npu:
        return _choice(releases.resolve(torch_npu), "asked", None)
    found = pins.pins(root)
    if not found:
        return _choice(releases.known()[-1], "newest", None)
    # All pins together first; where they contradict each other, the most deliberate file that can be met.
    for group in (found, *([pin] for pin in found)):
        fitting = _fitting(group)
        if fitting:
            return _choice(fitting, "pinned", _telling(group))
    for pin in found:
        near = _of_series(pin.series)
        if near:
            return _choice(near, "series", pin)
    return _choice(releases.known()[-1], "unmet", found[0])


def _of_series(series: str) -> str:
    """The newest release for any patch version of torch ``2.1``."""
    known = [*releases.every(legacy=True), *releases.every(legacy=False)] if series else []
    return next((one.torch_npu for one in reversed(known) if f"{one.torch}.".startswith(f"{series}.")), "")


def _fitting(group: list[pins.Pin]) -> str:
    """The newest release for these pins; a 1.x one only where nothing newer fits."""
    for legacy in (False, True):
        fitting = [
            one.torch_npu for one in releases.every(legacy=legacy) if all(pin.allows(one.torch) for pin in group)
        ]
        if fitting:
            return fitting[-1]
    return ""


def _telling(group: list[pins.Pin]) -> pins.Pin:
    """The pin to show: one that keeps the newest torch out, since that one decided."""
    newest = releases.get().torch
    return next((pin for pin in group if not pin.allows(newest)), group[0])


def _choice(release: str, key: str, pin: pins.Pin | None) -> Choice:
    one = releases.get(f"=={release}")
    facts = [("release", release), ("torch", one.torch)]
    if pin:
        facts += [("pin", "torch" + pin.spec), ("file", f"{pin.file}:{pin.line}")]
    remark = None if one.listed else Text(RULE, "unlisted", (("release", release),))
    return Choice(release, Text(RULE, key, tuple(facts)), pin, remark)


@lru_cache(maxsize=1)
def messages() -> dict[str, dict[str, str]]:
    """The sentences behind a choice's texts: key, then language."""
    found: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[
        "messages"
    ]
    return found
