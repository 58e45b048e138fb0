"""All uses of operators in a tree, with what the release makes of each: the figures of ``npu-migrate ops check``."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from npu_migrate.engine import scan
from npu_migrate.engine.pool import worked_off
from npu_migrate.engine.project import Project
from npu_migrate.engine.text import SourceText
from npu_migrate.operators.judge import Kind, Problem, decisive, judge
from npu_migrate.operators.uses import use_of
from npu_migrate.target import OpStatus
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.target import Target

_NAMES = (ast.Attribute, ast.Name)
UNSUPPORTED = "unsupported"
_STATUSES = {
    Kind.MISSING: OpStatus.MISSING.value,
    Kind.DOCUMENTED: UNSUPPORTED,
    Kind.DENIED: UNSUPPORTED,
    Kind.FALLBACK: OpStatus.CPU_FALLBACK.value,
    Kind.BACKWARD: OpStatus.CPU_FALLBACK.value,
    Kind.SAID_TO: OpStatus.CPU_FALLBACK.value,
}
ORDER = (
    OpStatus.MISSING.value,
    UNSUPPORTED,
    OpStatus.CPU_FALLBACK.value,
    *(one.value for one in OpStatus if not one.rank),
)
"""Statuses, worst first."""


@dataclass
class Used:
    """One name in use: ``why`` is empty where all is well; sites are path, line and column."""

    name: str
    status: str
    why: str = ""
    operator: str = ""
    sites: list[tuple[str, int, int]] = field(default_factory=list)

    def without_sites(self) -> Used:
        """The same, seen nowhere yet."""
        return replace(self, sites=[])

    def facts(self) -> dict[str, Any]:
        """The JSON form."""
        found: dict[str, Any] = {"api": self.name, "status": self.status}
        found |= {key: value for key, value in (("why", self.why), ("operator", self.operator)) if value}
        return {**found, "sites": [{"path": path, "line": line, "column": column} for path, line, column in self.sites]}


@dataclass
class Survey:
    """What was found, worst first; ``unreadable`` are files that do not parse."""

    files: int = 0
    used: list[Used] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """How many names have each status."""
        return {status: sum(one.status == status for one in self.used) for status in ORDER}


def survey(
    paths: Sequence[Path],
    target: Target,
    *,
    exclude: Sequence[str] = (),
    max_bytes: int = scan.MAX_BYTES,
    jobs: int = 1,
) -> Survey:
    """Look at every call, and every name handed on, of the Python files below ``paths``.

    A method counts where the file shows that its object is a tensor, or something is wrong with it.
    """
    entries = scan.scan(paths, exclude=exclude, max_bytes=max_bytes)
    python = [entry for entry in entries if entry.kind == "python" and entry.skipped is None]
    todo = [entry for entry, data in scan.candidates(iter(python), (b"torch",)) if data]
    found: dict[tuple[str, str, str], Used] = {}
    result = Survey(files=len(todo))
    with worked_off(todo, _Worker({entry.path: entry.absolute for entry in python}, target), jobs) as results:
        for entry, uses in zip(todo, results):
            if uses is None:
                result.unreadable.append(entry.path)
            for used in uses or ():
                found.setdefault((used.name, used.status, used.operator), used.without_sites()).sites += used.sites
    result.used = sorted(found.values(), key=lambda one: (ORDER.index(one.status), one.name, one.operator))
    return result


class _Worker:
    """What one process needs to look at files."""

    def __init__(self, python: dict[str, Path], target: Target) -> None:
        self.project = Project(python)
        self.target = target

    def __call__(self, entry: scan.Entry) -> list[Used] | None:
        """The uses in one file; None where it cannot be read."""
        try:
            module = self.project.open(entry.path, SourceText.decode(entry.absolute.read_bytes()))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        try:
            return list(self._uses(entry.path, module))
        except Exception:  # noqa: BLE001 - whatever it is, it stays with this file, which is told as not read
            return None
        finally:
            module.forget()

    def _uses(self, path: str, module: PythonModule) -> Iterator[Used]:
        for node, used in _uses(module, self.target):
            used.sites.append((path, *module.position(module.range_of(node)[0])))
            yield used


def _uses(module: PythonModule, target: Target) -> Iterator[tuple[ast.expr, Used]]:
    for node in _nodes(module.tree):
        use = use_of(module, node)
        if use is None:
            continue
        problem = judge(target, use)
        if problem is not None:
            yield node, _bad(problem)
        elif use.sure:
            api = target.python_api(use.name)
            one = decisive(api, use) if api is not None else None
            if one is not None:
                yield node, Used(use.name, one.status.value if not one.status.rank else OpStatus.NATIVE.value)


def _bad(problem: Problem) -> Used:
    operator = problem.decides if problem.operator else ""
    return Used(problem.use.name, _STATUSES[problem.kind], problem.kind.value, operator)


def _nodes(tree: ast.Module) -> Iterator[ast.expr]:
    """Calls, and names that are not called, in source order."""
    parts = {id(node.func) for node in walk(tree) if isinstance(node, ast.Call)}
    parts |= {id(node.value) for node in walk(tree) if isinstance(node, ast.Attribute)}
    for node in walk(tree):
        named = isinstance(node, _NAMES) and isinstance(node.ctx, ast.Load) and id(node) not in parts
        if isinstance(node, ast.Call) or (named and isinstance(node, ast.expr)):
            yield node
