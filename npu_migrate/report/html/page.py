"""The page: its sections from the verdict down."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from npu_migrate.model import Status
from npu_migrate.report import effort, summary
from npu_migrate.report.html import charts, coverage
from npu_migrate.report.html.tags import Child, Markup, both, each, labels, only_text, prose, tag
from npu_migrate.report.model import place
from npu_migrate.report.verdict import OPEN, TO_CHANGE, Kind, kinds, verdict
from npu_migrate.report.words import family, parts, say
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.packs import Registry
    from npu_migrate.report.model import Report

MOST_FILES = 12
MOST_KINDS = 100
MOST_PLACES = 6
SHOWN = (*TO_CHANGE, Status.ADVICE)
SECTIONS = ("verdict", "charts", "blockers", "decisions", "rehearsal", "trace", "sites", "rules", "target")


def head(report: Report, lang: str) -> Markup:
    """Name of the tree, what it was read for, and the switches."""
    aim = report.aim
    target = both("verdict.target" if aim.cann else "verdict.target-no-cann", **vars(aim))
    return banner("page.about", lang, tag("h1", report.name), tag("p", target, cls="dim"))


def banner(about: str, lang: str, *lines: Markup) -> Markup:
    """The top of a page: what it is, and the switches."""
    languages = [
        tag(
            "button",
            name,
            type="button",
            data_lang=one,
            aria_pressed="true" if one == lang else "false",
            lang=one,
            cls="lang",
        )
        for one, name in zip(LANGUAGES, ("English", "中文"))
    ]
    switches = [
        tag("div", languages, role="group", cls="switch", **labels("page.language", lang)),
        tag("button", "◐", type="button", id="theme", cls="icon", **labels("page.theme", lang)),
        tag("button", both("page.print"), type="button", id="print"),
    ]
    return tag(
        "header",
        tag("p", tag("b", "npu-migrate"), " ", both(about), cls="brand"),
        tag("div", switches, cls="switches"),
        lines,
    )


def section_names(report: Report) -> tuple[str, ...]:
    """The sections of the page about a report."""
    given = {"rehearsal": report.rehearsal, "trace": report.trace}
    return tuple(name for name in SECTIONS if given.get(name, report))


def contents(lang: str, names: Iterable[str]) -> Markup:
    """Links to the sections."""
    items = [tag("li", tag("a", both(f"page.{name}"), href=f"#{name}")) for name in names]
    return tag("nav", tag("ul", items), **labels("page.contents", lang))


def section(name: str, *children: Child) -> Markup:
    """One section under its heading."""
    return tag(
        "section", tag("h2", both(f"page.{name}"), id=f"{name}-head"), children, id=name, aria_labelledby=f"{name}-head"
    )


def verdict_section(report: Report, rules: Registry) -> Markup:
    """How much is migrated, what blocks, what is left."""
    judged, counts = verdict(report), summary.by_status(report)
    lines = []
    if counts[Status.UNSUPPORTED]:
        facts = {"sites": counts[Status.UNSUPPORTED], "kinds": len(kinds(report, Status.UNSUPPORTED))}
        lines.append(tag("li", tag("a", both("verdict.blockers", **facts), href="#blockers")))
    if counts[Status.MANUAL]:
        facts = {"sites": counts[Status.MANUAL], "kinds": len(kinds(report, Status.MANUAL))}
        lines.append(tag("li", tag("a", both("verdict.decisions", **facts), href="#decisions")))
    if counts[Status.UNREADABLE]:
        lines.append(tag("li", both("verdict.unreadable", files=counts[Status.UNREADABLE])))
    files = {"scanned": report.scanned, "found": len(report.files), "changed": len(report.changed)}
    lines += [
        tag("li", both("verdict.files", **files)),
        tag("li", both(f"mode.{report.mode}"), " · ", both("verdict.static")),
    ]
    share = both("verdict.share", done=judged.done, total=judged.total, percent=judged.percent) if judged.total else ""
    words = tag(
        "div",
        tag("p", both(f"verdict.{judged.level}"), cls=f"level {judged.level}"),
        tag("p", share),
        tag("ul", lines),
        _effort(report, rules),
    )
    return section("verdict", tag("div", charts.ring(judged.percent), words, cls="card verdict"), _tiles(counts))


def _tiles(counts: Counter[Status]) -> Markup:
    tiles = [
        tag("li", tag("b", f"{counts[one]:,}"), tag("span", both(f"status.{one.value}")), cls=f"tile {one.value}")
        for one in Status
        if counts[one] or one in SHOWN[:3]
    ]
    return tag("ul", tiles, cls="tiles")


def _effort(report: Report, rules: Registry) -> Markup:
    """The estimate, and under it every number that it is made of."""
    found = effort.steps(report, rules)
    sentence = tag("p", each(*(effort.headline(found, lang) for lang in LANGUAGES)), cls="effort")
    if not found:
        return sentence
    rows = [
        tag(
            "tr",
            tag("th", both(f"effort.{step.name}"), scope="row"),
            tag("td", f"{step.count:,}", cls="number"),
            tag("td", "{:g}-{:g}".format(*effort.MINUTES[step.name]), cls="number"),
            tag("td", _range(step), cls="number"),
        )
        for step in found
    ]
    heads = [
        tag("th", both(f"effort.{name}"), scope="col", cls="number" if name != "step" else None)
        for name in ("step", "count", "each", "sum")
    ]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", rows), cls="steps")
    why = [tag("p", both("effort.why")), tag("div", table, cls="scroll"), tag("p", both("page.statuses-mean"))]
    return tag("div", sentence, tag("details", tag("summary", both("page.how-counted")), why))


def _range(step: effort.Step) -> Markup:
    return each(*(f"{effort.duration(step.low, lang)} - {effort.duration(step.high, lang)}" for lang in LANGUAGES))


def charts_section(report: Report) -> Markup:
    """Bars by status, topic and file."""
    counts = summary.by_status(report)
    total = len(report.findings)
    parts_of_all = [(f"s-{one.value}", both(f"status.{one.value}"), counts[one]) for one in Status]
    statuses = tag(
        "div",
        tag("h3", both("page.by-status")),
        charts.bar(charts.status_parts(counts, Status), total),
        charts.legend(parts_of_all, total),
        cls="card",
    )
    families: dict[str, Counter[Status]] = {}
    for code, found in summary.by_rule(report):
        families.setdefault(code[:-2], Counter()).update(found)
    named = [(each(*(family(f"{code}00", lang) for lang in LANGUAGES)), found) for code, found in families.items()]
    files = [row for row in summary.by_file(report) if any(row[1][one] for one in SHOWN)]
    files.sort(key=lambda row: (-sum(row[1][one] for one in OPEN), -sum(row[1][one] for one in SHOWN), row[0]))
    topics = charts.bars("page.by-family", "column.topic", named, SHOWN)
    busiest = charts.bars(
        "page.by-file", "column.file", [(tag("code", path), found) for path, found in files[:MOST_FILES]], SHOWN
    )
    return section(
        "charts",
        tag(
            "div",
            tag("div", statuses, coverage.used(report), cls="stack"),
            tag("div", topics, coverage.operators(report), cls="stack"),
            busiest,
            cls="columns",
        ),
    )


def kinds_section(name: str, status: Status, report: Report, rules: Registry, numbers: dict[int, int]) -> Markup:
    """What there is to do about one status, a card a kind; ``numbers`` gives each finding's place in the list."""
    found = kinds(report, status)
    cards = [_kind(kind, rules, numbers) for kind in found[:MOST_KINDS]]
    rest = len(found) - MOST_KINDS
    more = tag("p", both("page.more-kinds", count=rest)) if rest > 0 else ""
    return section(name, tag("ul", cards, cls="kinds") if cards else tag("p", both(f"page.no-{name}")), more)


def _kind(kind: Kind, rules: Registry, numbers: dict[int, int]) -> Markup:
    first = kind.first
    first_at = {place(one): numbers[id(one)] for one in reversed(kind.sites)}
    lines = list(dict.fromkeys(map(place, kind.sites)))
    places = [tag("li", tag("a", tag("code", line), href=f"#site-{first_at[line]}")) for line in lines[:MOST_PLACES]]
    rest = len(lines) - MOST_PLACES
    if rest > 0:
        places.append(tag("li", both("markdown.more-places", count=rest)))
    words = each(*(prose(parts(rules, first.text, lang)) for lang in LANGUAGES))
    rule = tag("a", first.rule, href=f"#rule-{first.rule}", cls="code")
    return tag(
        "li",
        tag("p", words),
        tag("p", rule, " · ", both("script.sites", count=len(kind.sites)), cls="dim"),
        tag("ul", places, cls="places"),
        cls=f"card kind {first.status.value}",
    )


def sites_section(report: Report, lang: str) -> Markup:
    """Filters, and the list that the script fills."""
    counts = summary.by_status(report)
    statuses = [
        tag(
            "label",
            tag("input", type="checkbox", name="status", value=one.value, checked=one in SHOWN),
            tag("span", both(f"status.{one.value}"), tag("b", f" {counts[one]:,}"), cls=f"badge {one.value}"),
        )
        for one in Status
        if counts[one]
    ]
    rule_options = [tag("option", code, value=code) for code, _ in summary.by_rule(report)]
    filters = [
        tag(
            "input",
            type="search",
            id="search",
            **labels("page.search", lang),
            **labels("page.search", lang, "placeholder"),
        ),
        tag("fieldset", tag("legend", both("page.statuses"), cls="hidden"), statuses),
        _choice("rule", [_option("page.any-rule", "", lang), *rule_options]),
        _choice("group", [_option(f"page.group-{one}", one, lang) for one in ("file", "rule", "status")]),
        tag("button", both("page.open-all"), type="button", id="open-all"),
        tag("button", both("page.close-all"), type="button", id="close-all"),
    ]
    return section(
        "sites",
        tag("noscript", tag("p", both("page.no-script"), cls="card")),
        tag("form", filters, role="search", id="filters", **labels("page.search", lang)),
        tag("p", role="status", aria_live="polite", id="shown", cls="dim"),
        tag("div", id="groups"),
    )


def _choice(name: str, options: Iterable[Child]) -> Markup:
    return tag("label", tag("span", both(f"page.{name}")), " ", tag("select", options, id=f"by-{name}"), cls="choice")


def _option(name: str, value: str, lang: str) -> Markup:
    return only_text("option", lang, {one: say(one, name) for one in LANGUAGES}, value=value)
