"""Options that are collected in a dict and then handed to a call with ``**``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.structure.calls import called
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Collection

    from npu_migrate.engine.module import PythonModule


def expanded_into(module: PythonModule, value: ast.expr, names: Collection[str]) -> bool:
    """Whether a dict is given one name, and that goes into calls of ``names`` and nowhere else."""
    module.index(module.tree)
    statement = module.parent(value)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name):
        return False
    scope = module.scope_at(module.range_of(value)[0])
    if len(scope.bindings.get(target.id, ())) != 1:
        return False
    uses = [n for n in walk(scope.node) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    return bool(uses) and all(_is_expanded(module, use, names) for use in uses)


def _is_expanded(module: PythonModule, use: ast.Name, names: Collection[str]) -> bool:
    keyword = module.parent(use)
    call = module.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg is None else None
    return isinstance(call, ast.Call) and called(module, call) in names
