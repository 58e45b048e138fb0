"""The file of known sites: what it says, and which findings it knows."""

from __future__ import annotations

import json
from collections import Counter
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from npu_migrate.errors import InputError
from npu_migrate.gate.identity import OPEN, Identities, Site
from npu_migrate.model import Status
from npu_migrate.plain import visible

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from npu_migrate.model import Finding
    from npu_migrate.report.model import Report

VERSION = 1
# How much of a line must be the same for it to be an edited line, not another one.
SIMILAR = 0.6
# In a file with thousands of sites that were all edited, comparing each with each would take minutes.
MOST_CANDIDATES = 100
_KEYS = ("rule", "in", "code", "site")


class Compared(NamedTuple):
    """The open findings that a baseline does not know, how many it knows, and how many of its sites are gone."""

    new: tuple[Finding, ...]
    known: int
    gone: int


def render(report: Report) -> str:
    """The open sites of a run, one a line and sorted, so that a review shows what came and what went."""
    identities = Identities(report)
    left = OPEN - {Status.REWRITTEN} if report.mode == "apply" else OPEN
    counts = Counter(identities.site(finding) for finding in report.findings if finding.status in left)
    files: dict[str, list[str]] = {}
    for site, count in sorted(counts.items()):
        entry = {**dict(zip(_KEYS, site[1:])), **({"count": count} if count > 1 else {})}
        files.setdefault(site.path, []).append("   " + json.dumps(entry, ensure_ascii=False))
    listed = ",\n".join(
        f"  {json.dumps(path, ensure_ascii=False)}: [\n" + ",\n".join(entries) + "\n  ]"
        for path, entries in files.items()
    )
    body = f"{{\n{listed}\n }}" if listed else "{}"
    return visible(f'{{\n "tool": "npu-migrate",\n "baseline_version": {VERSION},\n "findings": {body}\n}}\n')


def read(path: Path) -> Counter[Site]:
    """The sites that a baseline file knows.

    Raises:
        InputError: there is no such file, or it is no baseline of this version.
    """
    document = load(path)
    if document["baseline_version"] != VERSION:
        raise InputError(says="baseline-version", path=path, version=document["baseline_version"], known=VERSION)
    return Counter(dict(_entries(path, document.get("findings"))))


def load(path: Path) -> dict[str, Any]:
    """A baseline file of any version.

    Raises:
        InputError: there is no such file, or it is no baseline.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(says="baseline-missing", path=path) from None
    except OSError as error:
        raise InputError(says="unreadable", path=path, reason=error.strerror or error) from error
    except (ValueError, RecursionError):
        raise InputError(says="baseline-not-one", path=path) from None
    if not isinstance(document, dict) or document.get("tool") != "npu-migrate" or "baseline_version" not in document:
        raise InputError(says="baseline-not-one", path=path)
    return document


def _entries(path: Path, files: Any) -> Iterator[tuple[Site, int]]:  # noqa: ANN401 - JSON holds anything; checked here
    try:
        for name, entries in files.items():
            for entry in entries:
                yield Site(name, *(str(entry[key]) for key in _KEYS)), int(entry.get("count", 1))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(says="baseline-broken", path=path) from None


def compare(report: Report, known: Mapping[Site, int]) -> Compared:
    """Match the open findings of a run with what is known, closest first.

    A site is known by its line and what encloses it; else by its line anywhere in the file (the function was renamed);
    else by a similar line in the same place (the line was edited elsewhere). Each known site is used once, so one more
    of the same is new.
    """
    identities = Identities(report)
    left = Counter(known)
    new = [finding for finding in report.findings if finding.status in OPEN]
    total = len(new)
    sites = {id(finding): identities.site(finding) for finding in new}
    for key in (lambda site: site, _without_scope, _without_code):
        new = _unmatched(new, sites, left, key)
    return Compared(tuple(new), total - len(new), sum(left.values()))


def _without_scope(site: Site) -> Hashable:
    return site._replace(scope="")


def _without_code(site: Site) -> Hashable:
    return site._replace(code="")


def _unmatched(
    findings: Sequence[Finding], sites: Mapping[int, Site], left: Counter[Site], key: Callable[[Site], Hashable]
) -> list[Finding]:
    """The findings that match none of what is ``left``; what matches is taken off it."""
    by_key: dict[Hashable, list[Site]] = {}
    for site in +left:
        by_key.setdefault(key(site), []).append(site)
    missing = []
    for finding in findings:
        mine = sites[id(finding)]
        candidates = islice((site for site in by_key.get(key(mine), ()) if left[site] > 0), MOST_CANDIDATES)
        near = next((site for site in candidates if _alike(site.code, mine.code)), None)
        if near:
            left[near] -= 1
        else:
            missing.append(finding)
    return missing


def _alike(one: str, other: str) -> bool:
    return one == other or SequenceMatcher(None, one, other, autojunk=False).ratio() >= SIMILAR
