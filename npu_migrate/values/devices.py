"""Which names and expressions stand for a device."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.names import dotted

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Scope

# ``cuda``, ``cuda:0``, and the beginnings of texts that become one: ``cuda:``, ``cuda:%d``, ``cuda:{}``; also several.
DEVICE_TEXT = re.compile(r"cuda(:(\d+|%[ds]|\{\w*\}|))?(, ?cuda(:\d+)?)*")
DEVICE_NAME = re.compile(r"device|(^|_)dev(s|_|$|\d)|map_location|(^|_)cuda_id")
PLACE_METHODS = frozenset({"to", "cuda", "npu", "pin_memory", "is_pinned", "to_empty", "move_to", "share_memory_to"})
SAME_VALUE = frozenset({"lower", "strip", "rstrip", "lstrip", "casefold", "removesuffix"})
DEPTH = 4


def is_device_text(text: str) -> bool:
    """Whether a string is a CUDA device, or the beginning of one that is completed at run time."""
    return DEVICE_TEXT.fullmatch(text) is not None


def is_device_name(name: str) -> bool:
    """Whether a variable, parameter, field or option is called what devices are called."""
    return DEVICE_NAME.search(name.lower().replace("-", "_")) is not None


class Devices:
    """Judges expressions of one module."""

    def __init__(self, module: PythonModule) -> None:
        self.module = module

    def is_device(self, node: ast.AST | None, depth: int = DEPTH) -> bool:
        """Whether an expression is, by all that can be seen, a device or the name of one."""
        if node is None or depth == 0:
            return False
        if isinstance(node, ast.Name):
            return is_device_name(node.id) or self._bound_to_device(node, depth - 1)
        if isinstance(node, ast.Attribute):
            if node.attr == "type":
                return self.is_device(node.value, depth - 1)
            return is_device_name(node.attr)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, depth)
        if isinstance(node, ast.NamedExpr):
            return self.is_device(node.target, depth - 1) or self.is_device(node.value, depth - 1)
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            arms = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
            return any(self.is_device(arm, depth - 1) for arm in arms)
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and is_device_text(node.value)

    def is_type_text(self, node: ast.AST | None, depth: int = DEPTH) -> bool:
        """Whether an expression is the name of a tensor's type, or a piece of it: ``t.type()`` without arguments."""
        if node is None or depth == 0:
            return False
        if isinstance(node, ast.Name):
            return any(self.is_type_text(value, depth - 1) for value in self._values(node))
        if isinstance(node, ast.Subscript):
            return self.is_type_text(node.value, depth - 1)
        if not isinstance(node, ast.Call):
            return False
        if dotted(node.func) == ["str"] and node.args:
            return self.is_type_text(node.args[0], depth - 1)
        if not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr == "type":
            return not node.args and not node.keywords
        return node.func.attr in SAME_VALUE | {"split"} and self.is_type_text(node.func.value, depth - 1)

    def _call(self, node: ast.Call, depth: int) -> bool:
        parts = dotted(node.func)
        if parts is not None:
            scope = self.module.scope_at(self.module.range_of(node)[0])
            meaning = self.module.names.meaning(parts, scope).name
            if meaning == "torch.device":
                return True
            if parts == ["str"] and node.args:
                return self.is_device(node.args[0], depth - 1)
            if is_device_name(parts[-1]) and "count" not in parts[-1]:
                return True
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in SAME_VALUE:
                return self.is_device(node.func.value, depth - 1)
            if node.func.attr in ("get", "pop", "getattr") and node.args:
                key = node.args[0]
                return isinstance(key, ast.Constant) and isinstance(key.value, str) and is_device_name(key.value)
        return False

    def _subscript(self, node: ast.Subscript, depth: int) -> bool:
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return is_device_name(key.value)
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "split":
            return self.is_device(value.func.value, depth - 1)
        return self.is_device(value, depth - 1)

    def _bound_to_device(self, node: ast.Name, depth: int) -> bool:
        return any(self.is_device(value, depth) for value in self._values(node))

    def _values(self, node: ast.Name) -> list[ast.AST | None]:
        """What is bound to a name."""
        scope = self.module.scope_at(self.module.range_of(node)[0])
        owner = self.module.names.binding_scope(node.id, scope)
        if owner is None:
            return []
        return [b.node for b in owner.bindings.get(node.id, ()) if b.kind in ("value", "param")]


def parameters(function: ast.AST) -> list[ast.arg]:
    """The parameters of a function that an argument can reach, in order; none for anything else."""
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return []
    return [*arguments.posonlyargs, *arguments.args]


def function_scope(module: PythonModule, function: ast.AST) -> Scope | None:
    """The scope of a function's body."""
    return module.table.scopes.get(function)
