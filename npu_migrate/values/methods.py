"""Where a program gives one of its own objects a method of some name, and whether a rename can reach that place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.engine.branches import VENDOR_NAMES
from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.trees import walk
from npu_migrate.values.arguments import name_of
from npu_migrate.values.classes import OwnClasses
from npu_migrate.values.objects import field_values

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Binding, Scope

# Decorators that make something to be read of a function.
READ = frozenset("property cached_property abstractproperty setter getter deleter".split())
NAMESPACES = frozenset("SimpleNamespace Namespace Mock MagicMock NonCallableMock".split())
WRAPPERS = frozenset("partialmethod staticmethod classmethod".split())
MODULES = ("torch.nn.", "torch.Tensor")
# What gives back whatever was saved.
LOADERS = frozenset({"torch.load"})


class OwnMethods:
    """Answers for the method ``old``, which becomes ``new``, in one module."""

    def __init__(self, module: PythonModule, old: str, new: str) -> None:
        self.module = module
        self.old = old
        self.new = new
        self.classes = OwnClasses.of(module, old)
        self._set_on = {
            ast.unparse(node.value)
            for node in walk(module.tree)
            if isinstance(node, ast.Attribute) and node.attr == old and isinstance(node.ctx, ast.Store)
        } - {"self", "cls"}

    @classmethod
    def of(cls, module: PythonModule, old: str, new: str) -> OwnMethods:
        """The answers for a module, worked out once."""
        return module.fact(f"methods {old}", lambda: cls(module, old, new))

    def renamed(self, scope: Scope) -> bool:
        """Whether a class body defines the method, in all its bindings, and none under another vendor's name."""
        bindings = scope.bindings.get(self.old, [])
        if not scope.is_class or not bindings or not scope.bindings.keys().isdisjoint((self.new, *VENDOR_NAMES)):
            return False
        return all(self._is_method(binding, scope) for binding in bindings)

    def is_value(self, receiver: ast.expr) -> bool:
        """Whether an object has its ``old`` from the program itself, in a form that no rename reaches."""
        if ast.unparse(receiver) in self._set_on:
            return True
        if any(self._gets_keyword(value) for value in self._values(receiver)):
            return True
        owner = self.classes.class_of(receiver)
        if not isinstance(owner, ast.ClassDef) or owner.name in self._set_on:
            return owner is not None
        scope = self.module.table.scopes[owner]
        if self.old in scope.bindings:
            return self.new not in scope.bindings and not self.renamed(scope)
        return owner in self.classes.definers

    def is_torch(self, receiver: ast.expr) -> bool:
        """Whether an object is known to have the method from torch, or from a class that is renamed with its uses."""
        values = self._values(receiver)
        if any(isinstance(value, ast.Call) and name_of(self.module, value.func) in LOADERS for value in values):
            return False
        if all(isinstance(value, ast.expr) and self.classes.is_torch(value) for value in values or [receiver]):
            return True
        owner = self.classes.class_of(receiver)
        if not isinstance(owner, ast.ClassDef) or self.is_value(receiver):
            return False
        from_torch = any((name_of(self.module, base) or "").startswith(MODULES) for base in owner.bases)
        return from_torch or self.renamed(self.module.table.scopes[owner])

    def _is_method(self, binding: Binding, scope: Scope) -> bool:
        node = binding.node
        if binding.kind == "def":
            return isinstance(node, FUNCTIONS) and not any(_last(one) in READ for one in node.decorator_list)
        return binding.kind == "value" and self._is_function(node, scope)

    def _is_function(self, node: ast.AST | None, scope: Scope) -> bool:
        """Whether an expression in a class body is a function: a lambda, a method of a class, a ``def`` by its name."""
        if isinstance(node, ast.Call) and _last(node.func) in WRAPPERS and node.args:
            return self._is_function(node.args[0], scope)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.attr == self.old or self.module.names.head(node.value.id, scope).kind == "class"
        if isinstance(node, ast.Name):
            owner = self.module.names.binding_scope(node.id, scope)
            bindings = owner.bindings.get(node.id, []) if owner is not None else []
            return bool(bindings) and all(binding.kind == "def" for binding in bindings)
        return isinstance(node, ast.Lambda)

    def _values(self, receiver: ast.expr) -> list[ast.AST]:
        """The expressions that a receiver stands for: itself, or what its variable or field is set to."""
        if isinstance(receiver, ast.Attribute):
            return list(field_values(self.module, receiver)) or [receiver]
        if not isinstance(receiver, ast.Name):
            return [receiver]
        owner = self.module.names.binding_scope(receiver.id, self.module.scope_at(self.module.range_of(receiver)[0]))
        bindings = owner.bindings.get(receiver.id, ()) if owner is not None else ()
        return [binding.node for binding in bindings if binding.kind == "value" and binding.node is not None]

    def _gets_keyword(self, value: ast.AST) -> bool:
        """``SimpleNamespace(cuda=...)``, ``make(cuda=lambda: 1)``; ``build_model(cuda=True)`` takes an option."""
        if not isinstance(value, ast.Call):
            return False
        given = [keyword.value for keyword in value.keywords if keyword.arg == self.old]
        return any(isinstance(one, ast.Lambda) or _last(value.func) in NAMESPACES for one in given)


def _last(node: ast.AST) -> str:
    """The last name of a dotted expression, or of what is called."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
