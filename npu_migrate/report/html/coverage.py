"""What the target release offers: versions that fit together, and how it runs PyTorch's operators."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from npu_migrate.report.html.charts import NONE, bar, legend
from npu_migrate.report.html.tables import folded, number, table
from npu_migrate.report.html.tags import Markup, both, tag
from npu_migrate.target import UnknownRelease, load, query
from npu_migrate.target.releases import every, nearest_listed

if TYPE_CHECKING:
    from npu_migrate.operators.survey import Used
    from npu_migrate.report.model import Report
    from npu_migrate.target import Release, Target

_GROUPS = {
    "native": "native",
    "functional-over-native": "native",
    "composite": "composite",
    "composite-explicit": "composite",
    "cpu-fallback": "fallback",
    "missing": "missing",
}
GROUPS = ("native", "composite", "fallback", "missing")
USED = ("native", "composite", "fallback", "unsupported", "missing")


def operators(report: Report) -> Markup:
    """A card with the operator coverage; nothing about a release that the tables do not know."""
    target = _target(report)
    if target is None:
        return Markup()
    every_one = query.listed(torch_npu=target.torch_npu, cuda=True)
    counts = Counter(_GROUPS[one.worst.value] for one in every_one)
    total = len(every_one)
    runs = 100 * (counts["native"] + counts["composite"]) // max(total, 1)
    return tag(
        "div",
        tag("h3", both("page.operators")),
        tag("p", both("page.operators-share", torch_npu=target.torch_npu, total=f"{total:,}", percent=runs)),
        bar([(f"o-{name}", counts[name]) for name in GROUPS], total),
        legend([(f"o-{name}", both(f"operators.{name}"), counts[name]) for name in GROUPS], total),
        tag("p", both("page.operators-how"), cls="dim"),
        cls="card",
    )


def used(report: Report) -> Markup:
    """A card with the operators that the tree itself names, and a table of those with trouble."""
    found = report.operators
    if found is None or not found.used:
        return Markup()
    counts: Counter[str] = Counter()
    for status, count in found.counts().items():
        counts[_GROUPS.get(status, status)] += count
    named = [(f"o-{name}", both(f"operators.{name}"), counts[name]) for name in USED]
    facts = {"torch_npu": report.aim.torch_npu, "apis": len(found.used), "files": found.files}
    bad = [one for one in found.used if one.why]
    return tag(
        "div",
        tag("h3", both("page.used-operators")),
        tag("p", both("page.used-operators-share", **facts)),
        bar([(name, count) for name, _, count in named], len(found.used)),
        legend(named, len(found.used)),
        folded(both("page.used-operators-bad", count=len(bad)), _troubles(bad)) if bad else "",
        tag("p", both("page.used-operators-how"), cls="dim"),
        cls="card",
    )


def _troubles(bad: list[Used]) -> Markup:
    heads = [(both("column.operator-name"), False), (both("column.status"), False), (both("column.sites"), True)]
    rows = [
        tag(
            "tr",
            tag("td", tag("code", one.name)),
            tag("td", both(f"operators.{_GROUPS.get(one.status, one.status)}")),
            number(f"{len(one.sites):,}"),
        )
        for one in bad
    ]
    return table("", heads, rows)


def matrix(report: Report) -> Markup:
    """The versions that belong together."""
    target = _target(report)
    if target is None:
        return tag("p", both("page.target-unknown", torch_npu=report.aim.torch_npu))
    rows = [_row(one, target) for one in reversed(_chosen(target))]
    heads = [tag("th", name, scope="col") for name in ("torch_npu", "torch", "CANN", "Python")]
    shown = tag(
        "table",
        tag("caption", both("page.matrix")),
        tag("thead", tag("tr", heads)),
        tag("tbody", rows),
        cls="matrix",
    )
    note: Markup | str = ""
    if not target.cann:
        near = nearest_listed(target.torch_npu)
        note = tag("p", both("page.cann-near", near=near.torch_npu, cann=near.cann) if near else both("page.cann-none"))
    return tag("div", note, shown, tag("p", both("page.matrix-how"), cls="dim"), cls="card scroll")


def _target(report: Report) -> Target | None:
    try:
        return load(f"=={report.aim.torch_npu}")
    except UnknownRelease:
        return None


def _chosen(target: Target) -> list[Release]:
    """The newest release of each torch, that with a known CANN first, and all of the target's own torch."""
    newest: dict[str, Release] = {}
    for one in every():
        if one.cann or not newest.get(one.torch, one).cann:
            newest[one.torch] = one
    return [one for one in every() if one is newest[one.torch] or one.torch == target.torch]


def _row(one: Release, target: Target) -> Markup:
    chosen = one.torch_npu == target.torch_npu
    python = f"{one.python[0]}-{one.python[-1]}" if one.python else NONE
    name = tag("th", one.torch_npu, tag("span", both("page.chosen"), cls="chosen") if chosen else "", scope="row")
    cells = [tag("td", text) for text in (one.torch, one.cann or NONE, python)]
    return tag("tr", name, cells, cls="target" if chosen else None)
