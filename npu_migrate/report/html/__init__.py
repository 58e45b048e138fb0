"""One self-contained HTML file: both languages, no request to anywhere, light and dark, on screen and on paper."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from npu_migrate import __version__
from npu_migrate.model import Status
from npu_migrate.report.html import coverage, data, page, rule_pages
from npu_migrate.report.html.tags import Markup, both, tag
from npu_migrate.report.words import say

if TYPE_CHECKING:
    from npu_migrate.packs import Registry
    from npu_migrate.report.model import Report

_ASSETS = Path(__file__).with_name("assets")
_SCRIPTS = ("dom.js", "diff.js", "sites.js", "switches.js")


def render(report: Report, rules: Registry, lang: str) -> str:
    """The whole page."""
    script = "'use strict';\n" + "".join(_asset(name) for name in _SCRIPTS)
    style = _asset("page.css")
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script, style)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"{report.name}: npu-migrate, {say(lang, 'page.about')}"),
        tag("style", Markup(style)),
    ]
    body = [
        tag("a", both("page.skip"), href="#main", cls="skip"),
        page.head(report, lang),
        page.contents(lang),
        tag("main", _sections(report, rules, lang), id="main", tabindex=-1),
        tag("footer", tag("p", both("page.made-by", version=__version__))),
        tag("script", Markup(data.script_data(report, rules)), type="application/json", id="data"),
        tag("script", Markup(script)),
    ]
    root = tag("html", tag("head", head), tag("body", body), lang="zh-CN" if lang == "zh" else "en", data_lang=lang)
    return f"<!doctype html>\n{root}\n"


def _sections(report: Report, rules: Registry, lang: str) -> list[Markup]:
    numbers = {id(one): number for number, one in enumerate(report.findings)}
    return [
        page.verdict_section(report, rules),
        page.charts_section(report),
        page.kinds_section("blockers", Status.UNSUPPORTED, report, rules, numbers),
        page.kinds_section("decisions", Status.MANUAL, report, rules, numbers),
        page.sites_section(report, lang),
        page.section("rules", rule_pages.rules_section(report, rules)),
        page.section("target", coverage.matrix(report)),
    ]


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    """What a browser lets this page do: run this one script, use this one style sheet, and fetch nothing."""
    return (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
