"""Each rewrite as replacements of its own, with the lines that the file needs besides (``import torch_npu``)."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from npu_migrate.engine.text import SourceText
from npu_migrate.model import Status

if TYPE_CHECKING:
    from npu_migrate.model import Finding
    from npu_migrate.report.model import Report

_IMPORT = re.compile(r"\s*import torch_npu\b")
Replacement = dict[str, Any]


class Fixes:
    """The fixes of a report; those of a file are worked out once."""

    def __init__(self, report: Report) -> None:
        """Keep the files that were rewritten."""
        self._files = {file.path: file for file in report.changed}
        self._sources: dict[str, SourceText] = {}
        self._imports: dict[str, list[Replacement]] = {}

    def of(self, finding: Finding) -> list[Replacement]:
        """The replacements that make one rewrite; none where the finding's words are not the edit itself."""
        file = self._files.get(finding.path)
        if finding.status is not Status.REWRITTEN or file is None or finding.cell is not None or not finding.after:
            return []
        span = finding.span
        if finding.path not in self._sources:
            old, new = (SourceText.decode(data, python=file.kind == "python") for data in (file.old, file.new))
            self._sources[finding.path] = old
            self._imports[finding.path] = _imports(old, new)
        if not _stands(self._sources[finding.path], finding):
            return []
        edit = _replacement((span.line, span.column, span.end_line, span.end_column), finding.after)
        return sorted([edit, *self._imports[finding.path]], key=lambda one: one["deletedRegion"]["startLine"])


def _stands(source: SourceText, finding: Finding) -> bool:
    span, starts = finding.span, source.line_starts
    if span.end_line > len(starts):
        return False
    start = starts[span.line - 1] + span.column - 1
    end = starts[span.end_line - 1] + span.end_column - 1
    return bool(finding.before) and source.text[start:end] == finding.before


def _imports(old: SourceText, new: SourceText) -> list[Replacement]:
    """The lines that only the new text has to import torch_npu, where they go in the old one."""
    before, after = _lines(old), _lines(new)
    found = []
    for tag, start, _, low, high in difflib.SequenceMatcher(None, before, after).get_opcodes():
        for number in range(low, high if tag in {"insert", "replace"} else low):
            if not _IMPORT.match(after[number]):
                continue
            guarded = number > low and after[number - 1].strip() == "try:"
            first, last = (number - 1, number + 3) if guarded else (number, number + 1)
            line = start + 1 + first - low
            found.append(_replacement((line, 1, line, 1), "".join(after[first:last])))
    return found


def _lines(source: SourceText) -> list[str]:
    return [source.line(number) for number in range(1, len(source.line_starts) + 1)]


def _replacement(region: tuple[int, int, int, int], text: str) -> Replacement:
    names = ("startLine", "startColumn", "endLine", "endColumn")
    return {"deletedRegion": dict(zip(names, region)), "insertedContent": {"text": text}}
