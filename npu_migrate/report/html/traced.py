"""What a trace told, as a section of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.report.html.charts import NONE, bar, legend
from npu_migrate.report.html.tables import folded, number, table
from npu_migrate.report.html.tags import Markup, each, tag
from npu_migrate.tracing.coverage import GROUPS
from npu_migrate.tracing.telling import Group, about, groups, place, remark, tensors, words
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from npu_migrate.report.model import Report
    from npu_migrate.tracing import Use
    from npu_migrate.tracing.coverage import Coverage, Row

_WORDS = [words(lang) for lang in LANGUAGES]
MOST_ROWS = 200
_PLACES = 20
_COLOURS = {"cpu-fallback": "o-fallback"}


def inside(report: Report) -> Markup:
    """In the report of a migration that has one."""
    found = report.trace
    if found is None:
        return Markup()
    told = [tag("p", each(*versions)) for versions in zip(*(about(found, say) for say in _WORDS))]
    return tag(
        "div",
        tag("div", told, _shares(found), cls="card"),
        list(map(_group, groups(found))),
        _modules(found),
        _all(found),
    )


def _both(name: str, **facts: object) -> Markup:
    return each(*(say(name, **facts) for say in _WORDS))


def _shares(found: Coverage) -> Markup:
    counts, total = found.counts(), len(found.rows)
    order = [group for group in reversed(GROUPS) if counts[group]]
    parts = [(_COLOURS.get(group, f"o-{group}"), counts[group]) for group in order]
    named = [(_COLOURS.get(group, f"o-{group}"), _both(f"share.{group}"), counts[group]) for group in order]
    return Markup(bar(parts, total) + legend(named, total)) if total else Markup()


def _group(group: Group) -> Markup:
    rows = [row for one in group.rows for row in _trouble(one, group)]
    title = each(*(group.title(say) for say in _WORDS))
    more = tag("p", _both("more", count=len(rows) - MOST_ROWS)) if len(rows) > MOST_ROWS else ""
    shown = table(title, _heads("operator", "where", "tensors", "count"), rows[:MOST_ROWS])
    return tag("div", shown, more, cls="card scroll")


def _trouble(row: Row, group: Group) -> list[Markup]:
    told = [remark(row, group.kind, say) for say in _WORDS]
    name = [tag("code", row.name), tag("div", each(*told), cls="dim") if told[0] else ""]
    uses = group.uses(row)[:_PLACES]
    return [
        tag(
            "tr",
            tag("td", name if use is uses[0] else ""),
            _where(use),
            tag("td", tag("code", tensors(use))),
            number(f"{use.count:,}"),
        )
        for use in uses
    ]


def _where(use: Use) -> Markup:
    line = tag("div", tag("code", use.where)) if use.where else ""
    return tag("td", each(*(place(use, say) for say in _WORDS)), line)


def _modules(found: Coverage) -> Markup:
    rows = [
        tag("tr", tag("td", tag("code", module)), tag("td", tag("code", kind)), tag("td", _kinds(counts)))
        for module, kind, counts in found.modules()
    ]
    return folded(_both("modules"), table("", _heads("module", "class", "kinds"), rows)) if rows else Markup()


def _kinds(counts: dict[str, int]) -> Markup:
    told = [
        ", ".join(say(f"group.{group}", count=counts[group]) for group in GROUPS if counts[group]) for say in _WORDS
    ]
    return each(*told)


def _all(found: Coverage) -> Markup:
    rows = [
        tag(
            "tr",
            tag("td", tag("code", row.name)),
            tag("td", row.operator.worst.value if row.operator else NONE),
            number(f"{row.calls:,}"),
        )
        for row in found.rows
    ]
    title = _both("all-operators", count=len(found.rows))
    return folded(title, table("", _heads("operator", "status", "count"), rows)) if rows else Markup()


def _heads(*names: str) -> list[tuple[Markup, bool]]:
    return [(_both(f"column.{name}"), name == "count") for name in names]
