"""Which call made a value: through names and attributes that are assigned in the same file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.names import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule

_DEPTH = 4


def maker(module: PythonModule, node: ast.AST | None, depth: int = _DEPTH) -> str | None:
    """The absolute name of what was called to make the value of an expression; None where that is not certain.

    Several assignments count if they all come from the same call.
    """
    if node is None or depth == 0:
        return None
    if isinstance(node, (ast.Await, ast.NamedExpr, ast.Starred)):
        return maker(module, node.value, depth)
    if isinstance(node, ast.Call):
        return called(module, node)
    names = {maker(module, value, depth - 1) for value in _values(module, node)}
    return names.pop() if len(names) == 1 else None


def called(module: PythonModule, call: ast.Call) -> str | None:
    """The absolute name of what a call calls."""
    parts = dotted(call.func)
    if parts is None:
        return None
    return module.names.meaning(parts, module.scope_at(module.range_of(call)[0])).name


def _values(module: PythonModule, node: ast.AST) -> Iterator[ast.AST | None]:
    """What is assigned to a name or attribute; None for a binding without a value of its own (a loop, a parameter)."""
    if isinstance(node, ast.Name):
        owner = module.names.binding_scope(node.id, module.scope_at(module.range_of(node)[0]))
        for binding in owner.bindings.get(node.id, ()) if owner is not None else ():
            yield binding.node if binding.kind == "value" else _entered(module, binding.line, node.id)
    elif isinstance(node, ast.Attribute):
        for statement in module.table.statements:
            if isinstance(statement.node, ast.Assign):
                targets = statement.node.targets
                if any(isinstance(target, ast.Attribute) and target.attr == node.attr for target in targets):
                    yield statement.node.value


def _entered(module: PythonModule, line: int, name: str) -> ast.AST | None:
    """What ``with ... as name`` enters."""
    for statement in module.table.statements:
        if isinstance(statement.node, (ast.With, ast.AsyncWith)) and statement.first <= line <= statement.last:
            for item in statement.node.items:
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name:
                    return item.context_expr
    return None
