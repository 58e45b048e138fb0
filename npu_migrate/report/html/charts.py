"""Charts as inline SVG, each beside its numbers, so that nobody needs to see the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.report.html.tags import Child, Markup, both, tag

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from npu_migrate.model import Status

WIDTH = 100
NONE = "\N{EN DASH}"
_AROUND = 263.9  # the length of a circle of radius 42


def ring(percent: int) -> Markup:
    """The share of migrated sites as a ring with the number in it."""
    done = _AROUND * percent / 100
    return tag(
        "svg",
        tag("circle", cx=50, cy=50, r=42, cls="ring-rest"),
        tag("circle", cx=50, cy=50, r=42, cls="ring-done", stroke_dasharray=f"{done:.1f} {_AROUND}") if percent else "",
        tag("text", f"{percent}%", x=50, y=57, cls="ring-text"),
        viewbox="0 0 100 100",
        cls="ring",
        aria_hidden="true",
    )


def bar(parts: Sequence[tuple[str, int]], scale: int) -> Markup:
    """One stacked bar; ``parts`` are classes and counts, ``scale`` is what fills the width."""
    x, rects = 0.0, []
    for cls, count in parts:
        width = WIDTH * count / max(scale, 1)
        if count:
            rects.append(tag("rect", cls=cls, x=f"{x:.2f}", y=0, width=f"{max(width, 0.6):.2f}", height=10))
        x += width
    return tag("svg", rects, viewbox=f"0 0 {WIDTH} 10", preserveAspectRatio="none", cls="bar", aria_hidden="true")


def status_parts(counts: Counter[Status], statuses: Iterable[Status]) -> list[tuple[str, int]]:
    """A bar's parts by status."""
    return [(f"s-{status.value}", counts[status]) for status in statuses]


def bars(title: str, head: str, rows: Sequence[tuple[Child, Counter[Status]]], statuses: Sequence[Status]) -> Markup:
    """A table of stacked bars with their numbers."""
    rows = [(name, counts) for name, counts in rows if any(counts[status] for status in statuses)]
    used = [status for status in statuses if any(counts[status] for _, counts in rows)]
    scale = max((sum(counts[status] for status in used) for _, counts in rows), default=0)
    body = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            tag("td", bar(status_parts(counts, used), scale), cls="graph"),
            [tag("td", str(counts[status] or NONE), cls=f"number t-{status.value}") for status in used],
        )
        for name, counts in rows
    ]
    heads = [tag("th", both(f"status.{status.value}"), scope="col", cls="number") for status in used]
    table = tag(
        "table",
        tag("caption", both(title)),
        tag("thead", tag("tr", tag("th", both(head), scope="col"), tag("td", cls="graph"), heads)),
        tag("tbody", body),
        cls=f"bars n{len(used)}",
    )
    return tag("div", table, cls="card scroll")


def legend(rows: Sequence[tuple[str, Child, int]], total: int) -> Markup:
    """The parts of one bar: colour, name, count, share."""
    return tag(
        "ul",
        [
            tag(
                "li",
                tag("span", cls=f"swatch {cls}", aria_hidden="true"),
                tag("span", name, cls="name"),
                tag("b", f"{count:,}"),
                tag("span", f"{100 * count / max(total, 1):.1f} %", cls="dim"),
            )
            for cls, name, count in rows
            if count
        ],
        cls="legend",
    )
