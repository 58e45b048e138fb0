"""The rules that spoke, each with its page in every language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from npu_migrate.model import Status
from npu_migrate.report.html.charts import bar, status_parts
from npu_migrate.report.html.tags import Markup, both, each, prose, tag
from npu_migrate.report.summary import by_rule
from npu_migrate.report.verdict import infos
from npu_migrate.report.words import split
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from collections import Counter

    from npu_migrate.packs import Registry, RuleInfo
    from npu_migrate.report.model import Report

# The pages stand below a heading of the second level here.
_LEVELS = {"h2": "h3", "h3": "h4", "h4": "h5"}


def rules_section(report: Report, rules: Registry) -> Markup:
    """A fold for each rule."""
    known = infos(rules)
    rows = by_rule(report)
    scale = max((sum(counts.values()) for _, counts in rows), default=0)
    return tag("div", [_rule(code, counts, known.get(code), scale) for code, counts in rows])


def _rule(code: str, counts: Counter[Status], info: RuleInfo | None, scale: int) -> Markup:
    titles = [prose(split(info.title[lang])) for lang in LANGUAGES] if info else ["", ""]
    head = tag(
        "summary",
        tag("b", code, cls="code"),
        tag("span", each(*titles), cls="title"),
        bar(status_parts(counts, Status), scale),
        tag("span", f"{sum(counts.values())}", cls="count"),
    )
    facts = [
        tag("span", both(f"status.{one.value}"), f" {counts[one]}", cls=f"badge {one.value}")
        for one in Status
        if counts[one]
    ]
    if info:
        facts += [
            tag("span", both(f"safety.{info.safety.value}"), cls="badge"),
            tag("span", both(f"review.{info.review}"), cls="badge"),
        ]
    show = tag("button", both("page.show-sites"), type="button", data_rule=code, cls="show-rule")
    page = tag("div", each(*(_page(info, lang) for lang in LANGUAGES)), cls="page") if info else ""
    return tag("details", head, tag("p", facts, show), page, id=f"rule-{code}", cls="fold rule")


def _page(info: RuleInfo, lang: str) -> Markup:
    """A rule's page without its title; raw HTML in it stays text."""
    path = info.page(lang)
    if not path.is_file():
        return Markup()
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(path.read_text(encoding="utf-8"))
    if tokens and tokens[0].tag == "h1":
        tokens = tokens[3:]
    for token in tokens:
        token.tag = _LEVELS.get(token.tag, token.tag)
    return Markup(markdown.renderer.render(tokens, markdown.options, {}))
