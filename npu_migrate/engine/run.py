"""A whole run: find the files, hand each to its adapter, collect what comes back, in an order that never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Optional

from npu_migrate import files, packs
from npu_migrate.engine import kinds, scan
from npu_migrate.engine.pool import worked_off
from npu_migrate.engine.project import Project
from npu_migrate.engine.rules import ActiveRules
from npu_migrate.engine.text import SourceText
from npu_migrate.files.pinned import judged
from npu_migrate.model import FileResult, Finding, Span, Status, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from npu_migrate.engine.settings import Settings

Progress = Optional[Callable[[int, int, str], None]]
ENGINE = "NPU000"


@dataclass(frozen=True)
class Job:
    """One file to look at."""

    path: str
    absolute: Path
    kind: str


def migrate(roots: Sequence[Path], settings: Settings, progress: Progress = None) -> Iterator[FileResult]:
    """Look at every file below ``roots``; results come in the order of the tree.

    ``progress`` is told how many of how many candidates are done, and which file is next. A file that no rule could
    concern yields an empty result.
    """
    rules = _rules(settings)
    looked: dict[str, Job | FileResult] = {}
    python: dict[str, Path] = {}
    entries = scan.scan(roots, exclude=settings.exclude, max_bytes=settings.max_bytes)
    noted = _noting(entries, looked, python)
    wanted = rules.inspectors.concern
    for entry, data in scan.candidates(noted, _keywords(rules, settings), files.concerns, wanted):
        if entry.skipped is not None:
            if entry.skipped.loses:
                facts = {"limit": str(settings.max_bytes // 2**20), "reason": entry.skipped.value}
                looked[entry.path] = _skipped(entry.path, entry.kind or "unknown", entry.skipped.value, **facts)
        elif data:
            looked[entry.path] = Job(entry.path, entry.absolute, entry.kind or "")
    yield from _work_off(list(looked.values()), _Worker(settings, rules, python), progress)


def _keywords(rules: ActiveRules, settings: Settings) -> Sequence[bytes]:
    """What makes a Python file interesting; an entry point may get an import although it has no site of its own."""
    return (*rules.keywords(), b"import") if settings.imports == "entry" else rules.keywords()


def migrate_text(path: str, data: bytes, settings: Settings, project: Project | None = None) -> FileResult:
    """What a run would make of one Python file given as bytes; for fixtures, editors and tests."""
    return _Worker(settings, _rules(settings), project.files if project else {}).python(path, data)


def _rules(settings: Settings) -> ActiveRules:
    registry = settings.registry or packs.load()
    return ActiveRules(registry.select(settings.select, settings.ignore), settings.target)


class _Worker:
    """What one process needs to handle files."""

    def __init__(self, settings: Settings, rules: ActiveRules, python: dict[str, Path]) -> None:
        self.settings = settings
        self.rules = rules
        self.project = Project(python)

    def __call__(self, job: Job) -> FileResult:
        try:
            data = job.absolute.read_bytes()
        except OSError as error:
            return _skipped(job.path, job.kind, "unreadable", reason=error.strerror or type(error).__name__)
        if job.kind == "python":
            return self.python(job.path, data)
        source = SourceText.decode(data, python=False)
        try:
            return FileResult(job.path, job.kind, self._chosen(files.find(job.kind, job.path, source.text)))
        except Exception as error:  # noqa: BLE001 - one of ours, which must not cost the rest of the tree
            from npu_migrate.engine.unread import failed, told  # noqa: PLC0415 - brings LibCST

            return FileResult(job.path, job.kind, tuple(failed(job.path, source, ENGINE, told(error))))

    def _chosen(self, findings: list[Finding]) -> tuple[Finding, ...]:
        """What ``--select`` and ``--ignore`` leave of an adapter's findings."""
        chosen = (finding for finding in findings if finding.rule == ENGINE or finding.rule in self.rules.codes)
        return tuple(judged(finding, self.settings) for finding in chosen)

    def python(self, path: str, data: bytes) -> FileResult:
        from npu_migrate.engine import python_file  # noqa: PLC0415  # brings LibCST: only runs with a candidate pay

        return python_file.migrate(path, SourceText.decode(data), self.rules, self.settings, self.project)


def _work_off(jobs: list[Job | FileResult], worker: _Worker, progress: Progress) -> Iterator[FileResult]:
    todo = [job for job in jobs if isinstance(job, Job)]
    done = 0
    with worked_off(todo, worker, worker.settings.jobs) as results:
        for job in jobs:
            if isinstance(job, FileResult):
                yield job
                continue
            if progress is not None:
                progress(done, len(todo), job.path)
            yield next(results)
            done += 1
    if progress is not None:
        progress(done, len(todo), "")


def _noting(
    entries: Iterable[scan.Entry], looked: dict[str, Job | FileResult], python: dict[str, Path]
) -> Iterator[scan.Entry]:
    """Pass entries on, with an empty result for each file whose kind is known, and note where the Python files are."""
    for entry in entries:
        if entry.kind is not None and entry.kind != kinds.DOCS and entry.skipped is None:
            looked[entry.path] = FileResult(entry.path, entry.kind)
            if entry.kind == "python":
                python[entry.path] = entry.absolute
        yield entry


def _skipped(path: str, kind: str, key: str, **facts: str) -> FileResult:
    text = Text(ENGINE, key, tuple(facts.items()))
    return FileResult(path, kind, (Finding(ENGINE, path, Span(1, 1, 1, 1), Status.UNREADABLE, text),))
