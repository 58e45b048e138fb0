"""What the page's script works on: sites and changed code as compact JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from npu_migrate.model import Status
from npu_migrate.plain import plain
from npu_migrate.report.html.code import Colours
from npu_migrate.report.words import parts, table
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from npu_migrate.model import Finding, Text
    from npu_migrate.packs import Registry
    from npu_migrate.report.model import Report

STATUSES = tuple(Status)
_BEFORE, _MARKED, _AFTER, _EDIT = 80, 160, 120, 400
_UNSAFE = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def script_data(report: Report, rules: Registry) -> str:
    """The JSON, in which nothing can end the element that holds it."""
    pool = _Pool(rules)
    paths = {path: number for number, path in enumerate(dict.fromkeys(one.path for one in report.findings))}
    for file in report.changed:
        paths.setdefault(file.path, len(paths))
    codes = {code: number for number, code in enumerate(sorted({one.rule for one in report.findings}))}
    colours = Colours()
    document = {
        "sites": [_site(report, one, paths[one.path], codes[one.rule], pool) for one in report.findings],
        "files": [plain(path) for path in paths],
        "rules": list(codes),
        "texts": pool.texts,
        "diffs": {paths[file.path]: colours.hunks(file) for file in report.changed},
        "statuses": [status.value for status in STATUSES],
        "words": {
            f"{section}.{key}": [words[lang] for lang in LANGUAGES]
            for section in ("script", "status", "safety")
            for key, words in table()[section].items()
        },
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).translate(_UNSAFE)


class _Pool:
    """Every text once; sites hold its number."""

    def __init__(self, rules: Registry) -> None:
        self.texts: list[Any] = []
        self._rules = rules
        self._numbers: dict[object, int] = {}

    def text(self, value: object, made: Any = None) -> int:  # noqa: ANN401 - any JSON
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.texts)
            self.texts.append(value if made is None else made)
        return number

    def sentence(self, text: Text) -> int:
        """A message in each language; text and code take turns, beginning with text."""
        number = self._numbers.get(text)
        return number if number is not None else self.text(text, [self._turns(text, lang) for lang in LANGUAGES])

    def _turns(self, text: Text, lang: str) -> list[str]:
        turns = [""]
        for part in parts(self._rules, text, lang):
            if part.code is (len(turns) % 2 == 0):
                turns[-1] += part.text
            else:
                turns.append(part.text)
        return turns


def _site(report: Report, finding: Finding, path: int, rule: int, pool: _Pool) -> list[int | None]:
    edit = (_cut(finding.before), _cut(finding.after)) if finding.after else None
    return [
        path,
        rule,
        STATUSES.index(finding.status),
        finding.span.line,
        finding.span.column,
        finding.cell,
        pool.sentence(finding.text),
        pool.text(_source(report, finding)),
        pool.text(edit) if edit else None,
        pool.text(plain(finding.symbol)) if finding.symbol else None,
        pool.text(finding.safety.value) if finding.safety else None,
    ]


def _cut(text: str) -> str:
    shown = "\n".join(map(plain, text.splitlines()))
    return shown if len(shown) <= _EDIT else shown[:_EDIT] + "…"


def _source(report: Report, finding: Finding) -> tuple[str, str, str]:
    """The site's line: before it, itself, after it; without indentation, and no longer than one can read."""
    line = report.line_of(finding)
    span = finding.span
    whole = finding.cell is not None or span.column > len(line)
    start = 0 if whole else span.column - 1
    end = span.end_column - 1 if span.end_line == span.line and not whole else len(line)
    head, marked, tail = line[:start].lstrip(), line[start:end], line[end:].rstrip()
    return (
        plain(head if len(head) <= _BEFORE else "…" + head[-_BEFORE:]),
        plain(marked if len(marked) <= _MARKED else marked[:_MARKED] + "…"),
        plain(tail if len(tail) <= _AFTER else tail[:_AFTER] + "…"),
    )
