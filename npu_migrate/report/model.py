"""What a run found, in no format and no language yet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from npu_migrate.engine.text import NEWLINE, SourceText
from npu_migrate.model import Status
from npu_migrate.patch.diff import unified_diff

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from npu_migrate.model import FileResult, Finding
    from npu_migrate.operators.survey import Survey
    from npu_migrate.rehearse.report import Report as Rehearsal
    from npu_migrate.tracing.coverage import Coverage

_ENGINE = "NPU000"


@dataclass(frozen=True)
class Aim:
    """What the tree was read for: the release, and how far rewrites went."""

    torch_npu: str
    torch: str
    cann: str
    style: str
    safety: str


@dataclass(frozen=True)
class Report:
    """One run; ``files`` are those with something to say, by path.

    ``root`` is for reading source lines: a report shows only its name, so that it is the same everywhere.
    ``rehearsal`` is what a run of the migrated program on a simulated NPU told, ``trace`` what the target makes of the
    operators that a run was seen to use; either only if one was given. ``operators`` are those that the tree names,
    where a report tells of them.
    """

    aim: Aim
    root: Path
    mode: str
    scanned: int
    files: tuple[FileResult, ...]
    rehearsal: Rehearsal | None = None
    trace: Coverage | None = None
    operators: Survey | None = None

    @property
    def name(self) -> str:
        """What the tree is called."""
        return self.root.name or self.root.as_posix()

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Every site, by path, line, column and rule."""
        return tuple(sorted((one for file in self.files for one in file.findings), key=lambda one: one.order))

    @cached_property
    def changed(self) -> tuple[FileResult, ...]:
        """The files that were, or would be, rewritten."""
        return tuple(file for file in self.files if file.changed)

    @property
    def incomplete(self) -> bool:
        """Whether a file could not be read, or an error of ours was contained to it."""
        return any(one.status is Status.UNREADABLE for one in self.findings)

    def line_of(self, finding: Finding) -> str:
        """The whole source line of a site; in a notebook, and where a file is gone, what the finding itself brought."""
        lines = () if finding.cell is not None else self.lines(finding.path)
        if finding.span.line <= len(lines):
            return lines[finding.span.line - 1]
        return next(iter(NEWLINE.split(finding.before)))

    def lines(self, path: str) -> list[str]:
        """The lines of one of :attr:`files` as it was read; none where it is gone."""
        if path not in self._texts:
            file = self._by_path[path]
            try:
                data = file.old or (self.root / path).read_bytes()
            except OSError:
                data = b""
            text = SourceText.decode(data, python=file.kind == "python").text
            self._texts[path] = NEWLINE.split(text) if text else []
        return self._texts[path]

    @cached_property
    def _by_path(self) -> dict[str, FileResult]:
        return {file.path: file for file in self.files}

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        return {}


def place(finding: Finding) -> str:
    """``path:line``, with the cell of a notebook."""
    cell = "" if finding.cell is None else f"[{finding.cell}]"
    return f"{finding.path}{cell}:{finding.span.line}"


def diff(file: FileResult) -> bytes:
    """What ``git apply`` needs to make a file's change."""
    return unified_diff(file.path, file.old, file.new)


def build(results: Iterable[FileResult], aim: Aim, root: Path, mode: str) -> Report:
    """Gather the engine's results, in any order."""
    scanned, files = 0, []
    for result in results:
        scanned += 1
        if result.findings or result.changed:
            files.append(result)
    return Report(aim, root, mode, scanned, tuple(sorted(files, key=lambda file: file.path)))
