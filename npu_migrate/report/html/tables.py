"""Tables of what a run told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.report.html.tags import Child, Markup, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(caption: Child, heads: Iterable[tuple[Child, bool]], body: Sequence[Markup]) -> Markup:
    """A table; each head says whether its column holds numbers."""
    cells = [tag("th", name, scope="col", cls="number" if numeric else None) for name, numeric in heads]
    title = tag("caption", caption) if caption else ""
    return tag("table", title, tag("thead", tag("tr", cells)), tag("tbody", body), cls="matrix")


def folded(title: Child, shown: Markup) -> Markup:
    """A table that opens on demand."""
    return tag("details", tag("summary", tag("b", title)), tag("div", shown, cls="scroll"), cls="fold")


def number(text: str) -> Markup:
    """A cell with a number."""
    return tag("td", text, cls="number")
