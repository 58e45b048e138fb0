"""Runs a rule over its fixtures: the cases are its tests, and its documentation is pulled from them.

``case.in.py`` is the input; ``case.out.py`` what the rule makes of it (without one the input must stay as it is);
``case.findings.yml`` lists every finding of the rule; ``case.options.toml`` may set ``torch_npu``, ``safety``,
``style`` and ``imports``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from npu_migrate import packs, tomlfile
from npu_migrate.engine.run import migrate_text
from npu_migrate.engine.settings import Settings
from npu_migrate.model import FileResult, Finding, Safety
from npu_migrate.target import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from npu_migrate.packs import Registry, RuleInfo

RELEASE = "2.7.1"


@dataclass(frozen=True)
class Failure:
    """What a fixture expects and does not get."""

    case: Path
    says: str


def cases(info: RuleInfo) -> list[Path]:
    """The inputs of a rule's fixtures."""
    return sorted(info.fixtures.glob("*.in.py"))


def run(case: Path, info: RuleInfo, data: bytes | None = None) -> FileResult:
    """Migrate one fixture (or other bytes under its options) with its own rule alone."""
    options = {"torch_npu": RELEASE, "safety": Safety.EXACT.value, **_options(case)}
    settings = Settings(
        target=load(options.pop("torch_npu")),
        safety=Safety(options.pop("safety")),
        registry=packs.Registry([info]),
        **options,
    )
    return migrate_text("case.py", case.read_bytes() if data is None else data, settings)


def check(info: RuleInfo, registry: Registry) -> Iterator[Failure]:
    """Every difference between what a rule's fixtures expect and what it does."""
    for case in cases(info):
        result = run(case, info)
        expected = _beside(case, ".out.py")
        wanted = (expected if expected.is_file() else case).read_bytes()
        got = result.new if result.changed else case.read_bytes()
        if got != wanted:
            yield Failure(case, f"expected:\n{wanted.decode()}\ngot:\n{got.decode()}")
        if result.changed and run(case, info, got).changed:
            yield Failure(case, "a second run changes the result again")
        yield from _compare(case, result, info, registry)


def _compare(case: Path, result: FileResult, info: RuleInfo, registry: Registry) -> Iterator[Failure]:
    listing = _beside(case, ".findings.yml")
    text = listing.read_text(encoding="utf-8") if listing.is_file() else ""
    wanted: list[dict[str, Any]] = yaml.safe_load(text) or []
    found = [f for f in result.findings if f.rule in (info.code, "NPU000")]
    for want in wanted:
        fits = [f for f in found if _fits(f, want, registry)]
        if fits:
            found.remove(fits[0])
        else:
            yield Failure(case, f"no finding like {want}")
    for extra in found:
        says = registry.message(extra.text, "en", strict=True)
        place = f"line {extra.span.line} {extra.rule} {extra.status.value}"
        yield Failure(case, f"unlisted finding: {place} {extra.before!r}: {says}")


def _fits(finding: Finding, want: dict[str, Any], registry: Registry) -> bool:
    said = registry.message(finding.text, "en", strict=True)
    return bool(
        finding.span.line == want["line"]
        and finding.rule == want["rule"]
        and finding.status.value == want["status"]
        and want.get("symbol", finding.symbol) == finding.symbol
        and re.search(want.get("says", ""), said)
    )


def _options(case: Path) -> dict[str, Any]:
    path = _beside(case, ".options.toml")
    return dict(tomlfile.read(path)) if path.is_file() else {}


def _beside(case: Path, suffix: str) -> Path:
    return case.with_name(case.name[: -len(".in.py")] + suffix)
