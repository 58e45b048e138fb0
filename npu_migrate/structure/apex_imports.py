"""What becomes of imports of ``apex.amp`` when nothing needs it any more."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.structure.blocks import source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule

MISSING = ("ImportError", "ModuleNotFoundError", "Exception")


def edits(module: PythonModule, aliases: Iterable[ast.alias]) -> dict[int, list[str]]:
    """The lines that take the place of each statement, by the offset at which it starts.

    A ``try`` round an import that goes gives way to what its body did besides: the import can no longer fail.
    """
    spent = list(aliases)
    statements = {id(s): s for alias in spent if isinstance(s := module.parent(alias), (ast.Import, ast.ImportFrom))}
    found: dict[int, list[str]] = {}
    gone: list[ast.stmt] = []
    for statement in statements.values():
        left = [ast.unparse(alias) for alias in statement.names if alias not in spent]
        head = f"from {statement.module} import " if isinstance(statement, ast.ImportFrom) else "import "
        found[module.range_of(statement)[0]] = [head + ", ".join(left)] if left else []
        gone += [] if left else [statement]
    for attempt in {id(t): t for s in gone if isinstance(t := module.parent(s), ast.Try)}.values():
        rest = [s for s in attempt.body if s not in gone]
        if _only_for_import(attempt) and all(_is_constant(s) for s in rest):
            for inner in attempt.body:
                found.pop(module.range_of(inner)[0], None)
            found[module.range_of(attempt)[0]] = [source(module, s) for s in rest]
    return found


def _only_for_import(attempt: ast.Try) -> bool:
    caught = [handler.type for handler in attempt.handlers]
    known = all(c is None or (isinstance(c, ast.Name) and c.id in MISSING) for c in caught)
    return known and not attempt.orelse and not attempt.finalbody


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
