"""What a rehearsal told, as a section of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from npu_migrate.rehearse.telling import Group, Row, about, groups, merged, words
from npu_migrate.report.html.charts import NONE
from npu_migrate.report.html.tables import folded, number, table
from npu_migrate.report.html.tags import Markup, each, tag
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from npu_migrate.rehearse.report import Report as Rehearsal
    from npu_migrate.report.model import Report
    from npu_migrate.wording import Words

_WORDS = [words(lang) for lang in LANGUAGES]
MOST_ROWS = 200


def alone(done: Rehearsal) -> Markup:
    """On a page of its own."""
    return _content(done, lambda say: about(done, say))


def inside(report: Report) -> Markup:
    """In the report of a migration that has one."""
    done = report.rehearsal
    return _content(done, lambda say: merged(done, report.aim.torch_npu, say)) if done else Markup()


def _content(done: Rehearsal, lines: Callable[[Words], list[str]]) -> Markup:
    told = [tag("p", each(*versions)) for versions in zip(*map(lines, _WORDS))]
    return tag("div", tag("div", told, cls="card"), [_table(group) for group in groups(done)], _operators(done))


def _both(name: str, **facts: object) -> Markup:
    return each(*(say(name, **facts) for say in _WORDS))


def _table(group: Group) -> Markup:
    paced = any(row.pace is not None for row in group.rows)
    heads = ["what", "where", "count", *(["step"] if paced else [])]
    body = [tag("tr", _cells(row, paced=paced)) for row in group.rows[:MOST_ROWS]]
    rest = len(group.rows) - MOST_ROWS
    more = tag("p", _both("more", count=rest)) if rest > 0 else ""
    title = each(*(group.title(say) for say in _WORDS))
    return tag("div", table(title, _heads(heads), body), more, cls="card scroll")


def _cells(row: Row, *, paced: bool) -> list[Markup]:
    cells = [tag("td", tag("code", row.what)), tag("td", tag("code", row.where or NONE)), number(f"{row.times:,}")]
    return [*cells, number(NONE if row.pace is None else f"{row.pace:g}")] if paced else cells


def _operators(done: Rehearsal) -> Markup:
    """All of them, folded away."""
    if not done.used:
        return Markup()
    body = [
        tag(
            "tr",
            tag("td", tag("code", use.name)),
            tag("td", use.state),
            tag("td", tag("code", use.where or NONE)),
            number(f"{use.count:,}"),
        )
        for use in done.operators
    ]
    shown = table("", _heads(["operator", "state", "where", "count"]), body)
    return folded(_both("all-operators", count=len(done.operators)), shown)


def _heads(names: list[str]) -> list[tuple[Markup, bool]]:
    return [(_both(f"column.{name}"), name in {"count", "step"}) for name in names]
