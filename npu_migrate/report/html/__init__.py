"""One self-contained HTML file: both languages, no request to anywhere, light and dark, on screen and on paper."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from npu_migrate import __version__
from npu_migrate.model import Status
from npu_migrate.report.html import coverage, data, page, rehearsal, rule_pages, traced
from npu_migrate.report.html.tags import Markup, both, only_text, tag
from npu_migrate.report.words import say
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.packs import Registry
    from npu_migrate.rehearse.report import Report as Rehearsal
    from npu_migrate.report.model import Report

_ASSETS = Path(__file__).with_name("assets")
_LOOKS = "looks.js"
_SCRIPTS = (_LOOKS, "dom.js", "diff.js", "sites.js", "switches.js")


def render(report: Report, rules: Registry, lang: str) -> str:
    """The whole page."""
    names, sections = page.section_names(report), _sections(report, rules, lang)
    body = [
        tag("a", both("page.skip"), href="#main", cls="skip"),
        page.head(report, lang),
        page.contents(lang, names),
        tag("main", [sections[name]() for name in names], id="main", tabindex=-1),
        tag("footer", tag("p", both("page.made-by", version=__version__))),
        tag("script", Markup(data.script_data(report, rules)), type="application/json", id="data"),
    ]
    return _document(report.name, "page.about", body, _SCRIPTS, lang)


def render_rehearsal(done: Rehearsal, lang: str) -> str:
    """A page about a rehearsal alone."""
    name = " ".join(done.command)
    body = [
        page.banner("page.about-rehearsal", lang, tag("h1", name)),
        tag("main", page.section("rehearsal", rehearsal.alone(done)), id="main"),
        tag("footer", tag("p", both("page.made-by", version=__version__))),
    ]
    return _document(name, "page.about-rehearsal", body, (_LOOKS,), lang)


def _document(name: str, about: str, body: list[Markup], scripts: Iterable[str], lang: str) -> str:
    """A page with its head; ``about`` is the key of what kind of page it is."""
    script = "'use strict';\n" + "".join(_asset(name) for name in scripts)
    style = _asset("page.css")
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script, style)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        only_text("title", lang, {one: f"{name}: npu-migrate, {say(one, about)}" for one in LANGUAGES}),
        tag("style", Markup(style)),
    ]
    body = [*body, tag("script", Markup(script))]
    root = tag("html", tag("head", head), tag("body", body), lang="zh-CN" if lang == "zh" else "en", data_lang=lang)
    return f"<!doctype html>\n{root}\n"


def _sections(report: Report, rules: Registry, lang: str) -> dict[str, Callable[[], Markup]]:
    """What makes each section, by its name."""
    numbers = {id(one): number for number, one in enumerate(report.findings)}

    def of_kind(name: str, status: Status) -> Markup:
        return page.kinds_section(name, status, report, rules, numbers)

    return {
        "verdict": lambda: page.verdict_section(report, rules),
        "charts": lambda: page.charts_section(report),
        "blockers": lambda: of_kind("blockers", Status.UNSUPPORTED),
        "decisions": lambda: of_kind("decisions", Status.MANUAL),
        "rehearsal": lambda: page.section("rehearsal", rehearsal.inside(report)),
        "trace": lambda: page.section("trace", traced.inside(report)),
        "sites": lambda: page.sites_section(report, lang),
        "rules": lambda: page.section("rules", rule_pages.rules_section(report, rules)),
        "target": lambda: page.section("target", coverage.matrix(report)),
    }


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
