"""The table of all sites, for a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Union

from npu_migrate.plain import visible
from npu_migrate.report.fingerprints import fingerprints
from npu_migrate.report.verdict import infos
from npu_migrate.report.words import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.packs import Registry, RuleInfo
    from npu_migrate.report.model import Report

Cell = Union[str, int]

COLUMNS = (
    *("status", "rule", "title", "file", "cell", "line", "column", "end-line", "end-column", "symbol", "message"),
    *("before", "after", "safety", "review", "fingerprint"),
)
# Without it, spreadsheets read UTF-8 as the system's own encoding.
_BOM = "\ufeff"
# What a spreadsheet takes for a formula, in the wide forms of East Asian input as well.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f]")
# What a spreadsheet takes into one cell.
_LONGEST = 32_000


def render(report: Report, rules: Registry, lang: str) -> str:
    """The whole report as text."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([say(lang, f"column.{name}") for name in COLUMNS])
    writer.writerows([_cell(value) for value in row] for row in _rows(report, rules, lang))
    return _BOM + text.getvalue()


def _rows(report: Report, rules: Registry, lang: str) -> Iterator[list[Cell]]:
    known = infos(rules)
    for finding, fingerprint in zip(report.findings, fingerprints(report)):
        info: RuleInfo | None = known.get(finding.rule)
        span = finding.span
        yield [
            say(lang, f"status.{finding.status.value}"),
            finding.rule,
            info.title[lang] if info else "",
            finding.path,
            "" if finding.cell is None else finding.cell,
            *(span.line, span.column, span.end_line, span.end_column),
            finding.symbol,
            rules.message(finding.text, lang),
            finding.before,
            finding.after,
            finding.safety.value if finding.safety else "",
            info.review if info else "",
            fingerprint,
        ]


def _cell(value: Cell) -> Cell:
    """A value that a spreadsheet shows and never computes."""
    if isinstance(value, int):
        return value
    text = visible(_CONTROL.sub("\ufffd", value.replace("\r\n", "\n").replace("\r", "\n")))
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return "'" + text if _FORMULA.match(value) else text
