"""Imports of packages that only work with CUDA are named, each once a file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.engine.statements import TRY
from npu_migrate.files.tables import modules
from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Statement

FALLBACK = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


class ThirdParty(Rule):
    """Asks the table about each imported module, by its longest known name."""

    def leave_Import(self, original: cst.Import, updated: cst.Import) -> cst.Import:
        for alias in original.names:
            self._judge(alias, ".".join(dotted(alias.name) or ()))
        return updated

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> cst.ImportFrom:
        module = ".".join(dotted(original.module) or ())
        if original.relative or original.module is None:
            return updated
        if _package(module) is not None:
            self._judge(original.module, module)
            return updated
        if not isinstance(original.names, cst.ImportStar):
            for alias in original.names:
                self._judge(alias, f"{module}.{alias.evaluated_name}")
        return updated

    def _judge(self, place: cst.CSTNode, module: str) -> None:
        package = _package(module)
        if package is None or self._is_local(module):
            return
        known = self.work.module
        firsts = known.fact("first imports of packages", lambda: _firsts(known))
        statement = known.statement_at(self.work.range_of(place)[0])
        if statement is None or firsts.get(package) != statement.index:
            return
        if _is_optional(statement, package):
            self.report(place, Status.KEPT, "optional", symbol=module, module=package)
            return
        found = modules()[package]
        self.report(place, found.status, found.message, symbol=module, module=package)

    def _is_local(self, module: str) -> bool:
        follow = self.work.module.names.follow
        return follow is not None and follow(module, self.work.module.path) is not None


def _is_optional(statement: Statement, package: str) -> bool:
    """Inside ``try`` with a handler that lets the program go on without the package."""
    while statement.parent is not None:
        above = statement.parent.node
        if isinstance(above, TRY) and statement.node in above.body:
            return any(_goes_on(handler, package) for handler in above.handlers)
        statement = statement.parent
    return False


def _package(module: str) -> str | None:
    """The longest known beginning of a dotted module name."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in modules()), None)


def _firsts(module: PythonModule) -> dict[str, int]:
    """Index of the first statement that imports each package."""
    found: dict[str, int] = {}
    for statement in module.table.statements:
        for name in _imported(statement.node):
            package = _package(name)
            if package is not None:
                found.setdefault(package, statement.index)
    return found


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield node.module or ""
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _goes_on(handler: ast.ExceptHandler, package: str) -> bool:
    names = {getattr(node, "id", "") for node in walk(handler.type)} if handler.type is not None else FALLBACK
    if not names & FALLBACK or any(isinstance(node, ast.Raise) for node in handler.body):
        return False
    return all(_does_without(node, package) for node in handler.body)


def _does_without(node: ast.stmt, package: str) -> bool:
    """Whether a statement does not import the package after all, or has a fallback itself."""
    if isinstance(node, TRY) and any(_goes_on(handler, package) for handler in node.handlers):
        return True
    return not any(_package(name) == package for inner in walk(node) for name in _imported(inner))
