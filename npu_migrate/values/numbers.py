"""What is certainly an integer, by all that the file shows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.trees import walk
from npu_migrate.values.arguments import argument, last_name, name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Scope

INT_CALLS = {
    "torch.cuda.current_device",
    "torch.cuda.device_count",
    "torch.distributed.get_node_local_rank",
    "torch.distributed.get_rank",
    "torch.distributed.get_world_size",
    "torch.npu.current_device",
    "torch.npu.device_count",
}
DEPTH = 4


def is_int(module: PythonModule, node: ast.AST | None, depth: int = DEPTH) -> bool:
    """Whether an expression can only be a number that counts from 0 (never None, never a device)."""
    if depth == 0 or node is None:
        return False
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.Call):
        return _name(node.func) in ("int", "len") or name_of(module, node.func) in INT_CALLS
    if isinstance(node, ast.BinOp):
        return is_int(module, node.left, depth - 1) and is_int(module, node.right, depth - 1)
    if isinstance(node, ast.Name):
        return _variable(module, node, depth - 1)
    return isinstance(node, ast.Attribute) and _field(module, node, depth - 1)


def _name(node: ast.expr) -> str:
    return getattr(node, "id", "")


def _variable(module: PythonModule, node: ast.Name, depth: int) -> bool:
    owner = module.names.binding_scope(node.id, _scope(module, node))
    if owner is None:
        return False
    bindings = owner.bindings[node.id]
    return all(
        _annotated_int(owner.node, node.id)
        if b.kind == "param"
        else b.kind == "value" and is_int(module, b.node, depth)
        for b in bindings
    )


def _annotated_int(function: ast.AST, name: str) -> bool:
    arguments = function.args if isinstance(function, FUNCTIONS) else None
    if arguments is None:
        return False
    found = [a for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if a.arg == name]
    return any(
        _name(a.annotation) == "int" or text_of(a.annotation) == "int" for a in found if a.annotation is not None
    )


def _field(module: PythonModule, node: ast.Attribute, depth: int) -> bool:
    """``self.rank`` by every assignment in its class; ``args.rank`` by the option of that name."""
    if not isinstance(node.value, ast.Name):
        return False
    if node.value.id == "self":
        values = list(_assigned(module, node))
        return bool(values) and all(is_int(module, value, depth) for value in values)
    return any(_is_int_option(call, node.attr) for call in _options(module))


def _assigned(module: PythonModule, node: ast.Attribute) -> Iterator[ast.expr]:
    statement = module.statement_at(module.range_of(node)[0])
    while statement is not None and not isinstance(statement.node, ast.ClassDef):
        statement = statement.parent
    if statement is None:
        return
    for inner in walk(statement.node):
        if isinstance(inner, ast.Assign):
            for target in inner.targets:
                if isinstance(target, ast.Attribute) and target.attr == node.attr and _name(target.value) == "self":
                    yield inner.value


def _options(module: PythonModule) -> Iterator[ast.Call]:
    if "add_argument" in module.text:
        for node in walk(module.tree):
            if isinstance(node, ast.Call) and last_name(node.func) == "add_argument":
                yield node


def _is_int_option(call: ast.Call, name: str) -> bool:
    spelled = {(text_of(one) or "").lstrip("-").replace("-", "_") for one in call.args}
    if name not in spelled or _name(argument(call, "type") or call.func) != "int":
        return False
    default, required = argument(call, "default"), argument(call, "required")
    return _is_true(required) or (isinstance(default, ast.Constant) and type(default.value) is int)


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _scope(module: PythonModule, node: ast.AST) -> Scope:
    return module.scope_at(module.range_of(node)[0])
