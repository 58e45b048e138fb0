"""Each rewrite as replacements of its own, with the lines that the file needs besides (``import torch_npu``).

A finding says what it is about, which need not be the edit itself. So its words are tried against the new text: a
stretch of changed lines that they do not explain is replaced as a whole.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from npu_migrate.alignment import Alignment
from npu_migrate.engine.text import SourceText
from npu_migrate.model import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.model import FileResult, Finding
    from npu_migrate.report.model import Report

_IMPORT = re.compile(r"\s*import torch_npu\b")
Replacement = dict[str, Any]


class Edit(NamedTuple):
    """Characters of the old text, and what comes instead."""

    start: int
    end: int
    text: str


class Block(NamedTuple):
    """Changed lines: a stretch of the old text, and the new one."""

    edit: Edit
    imports: tuple[Edit, ...]

    def holds(self, edit: Edit) -> bool:
        """Whether an edit lies inside."""
        return self.edit.start <= edit.start and edit.end <= self.edit.end


class Fixes:
    """The fixes of a report; those of a file are worked out once."""

    def __init__(self, report: Report) -> None:
        """Keep the files that were rewritten."""
        self._files = {file.path: file for file in report.changed}
        self._done: dict[str, _FileFixes] = {}

    def of(self, finding: Finding) -> list[Replacement]:
        """The replacements that make one rewrite."""
        file = self._files.get(finding.path)
        if finding.status is not Status.REWRITTEN or file is None or finding.cell is not None:
            return []
        if finding.path not in self._done:
            self._done[finding.path] = _FileFixes(file)
        return self._done[finding.path].of(finding)


class _FileFixes:
    def __init__(self, file: FileResult) -> None:
        self._old, new = (SourceText.decode(data, python=file.kind == "python") for data in (file.old, file.new))
        self._blocks = list(_blocks(self._old, new))
        found = (self._edit(one) for one in file.findings if one.status is Status.REWRITTEN and one.cell is None)
        told = sorted({edit for edit in found if edit})
        self._explained: set[Edit] = set()
        self._left = []
        for block in self._blocks:
            inside = [edit for edit in told if block.holds(edit)]
            if _applied(self._old.text, block.edit, [*block.imports, *inside]) == block.edit.text:
                self._explained.update(inside)
            else:
                self._left.append(block)

    def of(self, finding: Finding) -> list[Replacement]:
        edit = self._edit(finding)
        own: list[Edit] = [edit] if edit in self._explained and edit else []
        imports = [one for block in self._blocks for one in block.imports]
        if not own:
            near = [block for block in self._left if edit and block.holds(edit)] or self._left
            own = [block.edit for block in near]
            imports = [one for block in self._blocks if block not in near for one in block.imports]
        return [self._replacement(one) for one in sorted([*imports, *own])] if own else []

    def _edit(self, finding: Finding) -> Edit | None:
        """What the finding's words come to, if its place says what they say."""
        span, starts = finding.span, self._old.line_starts
        if span.end_line > len(starts) or not finding.before or not finding.after:
            return None
        start, end = (
            starts[line - 1] + at - 1 for line, at in ((span.line, span.column), (span.end_line, span.end_column))
        )
        return Edit(start, end, finding.after) if self._old.text[start:end] == finding.before else None

    def _replacement(self, edit: Edit) -> Replacement:
        span = self._old.span(edit.start, edit.end)
        region = {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        }
        return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _blocks(old: SourceText, new: SourceText) -> Iterable[Block]:
    before, after = _lines(old), _lines(new)
    starts = (*old.line_starts, len(old.text))
    for tag, first, last, low, high in Alignment(before, after).get_opcodes():
        if tag != "equal":
            imports = tuple(
                Edit(starts[line], starts[line], text)
                for line, text in _imports(after[low:high], first)
                if line < len(starts)
            )
            yield Block(Edit(starts[first], starts[last], "".join(after[low:high])), imports)


def _lines(source: SourceText) -> list[str]:
    return [source.line(number) for number in range(1, len(source.line_starts) + 1)]


def _imports(lines: list[str], first: int) -> Iterable[tuple[int, str]]:
    """The new lines that import torch_npu, guarded or not, and the old line before which they come."""
    for number, line in enumerate(lines):
        if _IMPORT.match(line):
            guarded = number > 0 and lines[number - 1].strip() == "try:"
            begin, end = (number - 1, number + 3) if guarded else (number, number + 1)
            yield first + begin, "".join(lines[begin:end])


def _applied(text: str, block: Edit, edits: list[Edit]) -> str | None:
    """A block's old text with edits made; None where they overlap."""
    pieces, position = [], block.start
    for start, end, new in sorted(edits):
        if start < position:
            return None
        pieces += [text[position:start], new]
        position = end
    return "".join([*pieces, text[position : block.end]])
