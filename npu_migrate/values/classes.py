"""The program's own classes: which of them define an attribute, and what is known to be an object of one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.trees import walk
from npu_migrate.values.arguments import name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Scope

DEPTH = 3


class OwnClasses:
    """Answers for one attribute name in one module."""

    def __init__(self, module: PythonModule, attribute: str) -> None:
        self.module = module
        self.attribute = attribute
        scopes = [scope for scope in module.table.scopes.values() if scope.is_class]
        self.definers = {scope.node for scope in scopes if self._defines(scope)}

    @classmethod
    def of(cls, module: PythonModule, attribute: str) -> OwnClasses:
        """The answers for a module, worked out once."""
        return module.fact(f"classes with {attribute}", lambda: cls(module, attribute))

    def _defines(self, scope: Scope) -> bool:
        if self.attribute in scope.bindings:
            return True
        return self.attribute in self.module.text and any(
            node.attr == self.attribute and isinstance(node.ctx, ast.Store) for node in _own_attributes(scope.node)
        )

    def has(self, node: ast.expr) -> bool:
        """Whether an expression is an object of a class (or a class) that defines the attribute itself."""
        return self.class_of(node) in self.definers

    def class_of(self, node: ast.expr) -> ast.AST | None:
        """The class of the program's own of which an expression is an object (or which it is)."""
        return self._class_of(node, DEPTH)

    def is_torch(self, node: ast.expr | None, depth: int = 2 * DEPTH) -> bool:
        """Whether an expression comes from a call of torch's, or from a method of what does."""
        if depth == 0 or node is None:
            return False
        if isinstance(node, ast.Call):
            if (name_of(self.module, node.func) or "").startswith("torch."):
                return True
            return isinstance(node.func, ast.Attribute) and self.is_torch(node.func.value, depth - 1)
        if not isinstance(node, ast.Name):
            return False
        owner = self.module.names.binding_scope(node.id, self._scope(node))
        if owner is None:
            return False
        annotated = annotation(owner.node, node.id)
        if annotated is not None:
            return (name_of(self.module, annotated) or "").startswith("torch.")
        values = [b.node if b.kind == "value" else None for b in owner.bindings.get(node.id, ())]
        return bool(values) and all(isinstance(one, ast.expr) and self.is_torch(one, depth - 1) for one in values)

    def enclosing(self, node: ast.AST) -> ast.ClassDef | None:
        """The class in whose method a node stands."""
        statement = self.module.statement_at(self.module.range_of(node)[0])
        while statement is not None and not isinstance(statement.node, ast.ClassDef):
            statement = statement.parent
        found = statement.node if statement is not None else None
        return found if isinstance(found, ast.ClassDef) else None

    def _class_of(self, node: ast.expr | None, depth: int) -> ast.AST | None:
        if depth == 0 or node is None:
            return None
        if isinstance(node, ast.Call):
            return self._class_named(node.func)
        if isinstance(node, ast.Attribute):
            return self._class_of_field(node, depth)
        if not isinstance(node, ast.Name):
            return None
        if node.id in ("self", "cls"):
            return self.enclosing(node)
        return self._class_named(node) or self._class_of_variable(node, depth)

    def _class_named(self, node: ast.expr) -> ast.AST | None:
        if not isinstance(node, ast.Name):
            return None
        owner = self.module.names.binding_scope(node.id, self._scope(node))
        bindings = owner.bindings.get(node.id, []) if owner is not None else []
        return next((b.node for b in bindings if b.kind == "class"), None)

    def _class_of_variable(self, node: ast.Name, depth: int) -> ast.AST | None:
        owner = self.module.names.binding_scope(node.id, self._scope(node))
        if owner is None:
            return None
        annotated = annotation(owner.node, node.id)
        if annotated is not None:
            return self._class_named(annotated)
        values = [b.node for b in owner.bindings.get(node.id, ()) if b.kind == "value"]
        found = [self._class_of(value, depth - 1) for value in values if isinstance(value, ast.expr)]
        return next((one for one in found if one is not None), None)

    def _class_of_field(self, node: ast.Attribute, depth: int) -> ast.AST | None:
        """``self.cfg`` after ``self.cfg = Settings()``."""
        owner = self.enclosing(node)
        if owner is None or not isinstance(node.value, ast.Name) or node.value.id != "self":
            return None
        for assign in walk(owner):
            if isinstance(assign, ast.Assign) and any(_is_field(target, node.attr) for target in assign.targets):
                return self._class_of(assign.value, depth - 1)
        return None

    def _scope(self, node: ast.AST) -> Scope:
        return self.module.scope_at(self.module.range_of(node)[0])


def _own_attributes(node: ast.AST) -> Iterator[ast.Attribute]:
    for inner in walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self":
            yield inner


def _is_field(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == name


def annotation(function: ast.AST, name: str) -> ast.expr | None:
    """The class that a parameter is annotated with, also as a string."""
    if not isinstance(function, FUNCTIONS):
        return None
    arguments = function.args
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if parameter.arg == name and parameter.annotation is not None:
            text = text_of(parameter.annotation)
            return parameter.annotation if text is None else _parsed(text, parameter.annotation)
    return None


def _parsed(text: str, place: ast.expr) -> ast.expr | None:
    return ast.copy_location(ast.Name(text, ast.Load()), place) if text.isidentifier() else None
