"""Whether an expression is an object that certain calls make (``torch.cuda.Stream()``), or a variable that holds it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.trees import walk
from npu_migrate.values.arguments import name_of
from npu_migrate.values.classes import OwnClasses, annotation

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from npu_migrate.engine.module import PythonModule

DEPTH = 4


def is_made_by(module: PythonModule, node: ast.AST | None, makers: Container[str], depth: int = DEPTH) -> bool:
    """Whether a value comes from one of these functions or classes, wherever it gets its value.

    A parameter counts if it is annotated with one of the classes, and a field if each assignment in its class does.
    """
    if depth == 0 or node is None:
        return False
    if isinstance(node, ast.Call):
        return name_of(module, node.func) in makers
    if isinstance(node, ast.Attribute):
        values = list(field_values(module, node))
        return bool(values) and all(is_made_by(module, value, makers, depth - 1) for value in values)
    if not isinstance(node, ast.Name):
        return False
    owner = module.names.binding_scope(node.id, module.scope_at(module.range_of(node)[0]))
    if owner is None:
        return False
    bindings = owner.bindings.get(node.id, [])
    if isinstance(owner.node, FUNCTIONS) and any(b.kind == "param" for b in bindings):
        annotated = annotation(owner.node, node.id)
        return annotated is not None and name_of(module, annotated) in makers
    return bool(bindings) and all(b.kind == "value" and is_made_by(module, b.node, makers, depth - 1) for b in bindings)


def field_values(module: PythonModule, node: ast.Attribute) -> Iterator[ast.expr]:
    """What ``self.x`` is set to in its class; nothing for a field of anything else."""
    owner = OwnClasses.of(module, node.attr).enclosing(node)
    if owner is None or not isinstance(node.value, ast.Name) or node.value.id != "self":
        return
    for inner in walk(owner):
        targets = inner.targets if isinstance(inner, ast.Assign) else [getattr(inner, "target", None)]
        for target in targets:
            if isinstance(target, ast.Attribute) and target.attr == node.attr:
                value = getattr(inner, "value", None)
                yield value if isinstance(value, ast.expr) else target
