"""Is it a tensor? What a file shows about the object that a method is called on."""

from __future__ import annotations

import ast
from enum import Enum
from typing import TYPE_CHECKING

from npu_migrate.names import dotted
from npu_migrate.operators.tables import words
from npu_migrate.target.target import python_base
from npu_migrate.values.dtypes import METHODS

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Binding, Scope

_DEPTH = 5
_ELSE = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Lambda)
_ANNOTATIONS = {"torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.nn.Parameter"}


class Belief(Enum):
    """How far the file shows that an expression is a tensor."""

    SURE = "sure"
    LIKELY = "likely"
    NO = "no"


def belief(module: PythonModule, node: ast.expr, depth: int = _DEPTH) -> Belief:
    """Whether an expression is a tensor; what nothing is known about is likely to be one."""
    if isinstance(node, _ELSE):
        return Belief.NO
    if depth == 0:
        return Belief.LIKELY
    if isinstance(node, ast.Call):
        return _of_call(module, node, depth - 1)
    if isinstance(node, ast.BinOp):
        sides = [belief(module, side, depth - 1) for side in (node.left, node.right)]
        return Belief.SURE if Belief.SURE in sides else Belief.LIKELY
    if isinstance(node, (ast.UnaryOp, ast.Await, ast.NamedExpr)):
        return belief(module, node.operand if isinstance(node, ast.UnaryOp) else node.value, depth - 1)
    if isinstance(node, ast.Name):
        return _of_name(module, node, depth - 1)
    parts = dotted(node)
    if parts is None or parts[0] == "self":
        return Belief.LIKELY
    scope = module.scope_at(module.range_of(node)[0])
    return Belief.NO if module.names.head(parts[0], scope).kind == "import" else Belief.LIKELY


def _of_call(module: PythonModule, node: ast.Call, depth: int) -> Belief:
    parts = dotted(node.func)
    if parts is not None:
        meaning = module.names.meaning(parts, module.scope_at(module.range_of(node)[0]))
        if meaning.name is not None and meaning.kind == "import":
            return _of_function(meaning.name)
        if len(parts) == 1:
            return Belief.NO if meaning.kind in ("class", "unbound") else Belief.LIKELY
    if not isinstance(node.func, ast.Attribute):
        return Belief.LIKELY
    method = node.func.attr
    inner = belief(module, node.func.value, depth)
    return inner if _gives_tensor(method) else Belief.LIKELY if inner is not Belief.NO else Belief.NO


def _of_function(name: str) -> Belief:
    if not name.startswith("torch."):
        return Belief.NO
    return Belief.SURE if python_base(name) and name.rpartition(".")[2] not in words("no_tensor") else Belief.LIKELY


def _gives_tensor(method: str) -> bool:
    return method in METHODS or (bool(python_base(f"torch.Tensor.{method}")) and method not in words("no_tensor"))


def _of_name(module: PythonModule, node: ast.Name, depth: int) -> Belief:
    scope = module.scope_at(module.range_of(node)[0])
    owner = module.names.binding_scope(node.id, scope)
    if owner is None:
        return Belief.NO if node.id in ("super", "self", "cls") else Belief.LIKELY
    if node.id in ("self", "cls"):
        return Belief.NO
    found = [_of_binding(module, owner, node.id, binding, depth) for binding in owner.bindings[node.id]]
    if Belief.NO in found:
        return Belief.NO
    return Belief.SURE if all(one is Belief.SURE for one in found) else Belief.LIKELY


def _of_binding(module: PythonModule, owner: Scope, name: str, binding: Binding, depth: int) -> Belief:
    if binding.kind in ("import", "def", "class"):
        return Belief.NO
    if binding.kind == "param":
        return _of_parameter(module, owner, name)
    return belief(module, binding.node, depth) if isinstance(binding.node, ast.expr) else Belief.LIKELY


def _of_parameter(module: PythonModule, owner: Scope, name: str) -> Belief:
    """By its annotation; a plain type there rules a tensor out."""
    arguments = getattr(owner.node, "args", None)
    if not isinstance(arguments, ast.arguments):
        return Belief.LIKELY
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if parameter.arg == name and parameter.annotation is not None:
            parts = dotted(parameter.annotation)
            meaning = module.names.meaning(parts, owner.parent or owner).name if parts else None
            if meaning in _ANNOTATIONS:
                return Belief.SURE
            return (
                Belief.NO
                if parts is not None and parts[-1] in ("str", "int", "float", "dict", "list")
                else Belief.LIKELY
            )
    return Belief.LIKELY
