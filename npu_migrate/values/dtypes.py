"""The dtype of a tensor, where the file shows it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.names import dotted
from npu_migrate.values.arguments import argument, name_of

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule

METHODS = {"bool": "bool", "byte": "uint8", "double": "float64", "float": "float32", "half": "float16", "int": "int32"}
METHODS |= {"long": "int64", "bfloat16": "bfloat16", "short": "int16", "char": "int8"}
SAME_NAMES = {"double": "float64", "float": "float32", "half": "float16", "int": "int32", "long": "int64"}
TYPES = {"BoolTensor": "bool", "ByteTensor": "uint8", "DoubleTensor": "float64", "FloatTensor": "float32"}
TYPES |= {"HalfTensor": "float16", "IntTensor": "int32", "LongTensor": "int64", "BFloat16Tensor": "bfloat16"}
KEEP = {"cuda", "npu", "cpu", "clone", "detach", "contiguous", "view", "reshape", "unsqueeze", "squeeze", "flatten"}
PREDICATES = {
    "isnan",
    "isinf",
    "isfinite",
    "logical_and",
    "logical_or",
    "logical_not",
    "eq",
    "ne",
    "gt",
    "lt",
    "ge",
    "le",
}
MOVES = {"to", "new_empty", "new_full", "new_ones", "new_tensor", "new_zeros"}
DEPTH = 6


def dtype_name(module: PythonModule, node: ast.AST | None) -> str | None:
    """``float64`` for ``torch.double``; None for what is no dtype of torch's."""
    name = name_of(module, node) or ""
    owner, _, last = name.rpartition(".")
    return SAME_NAMES.get(last, last) if owner == "torch" else None


def dtype_of(module: PythonModule, node: ast.AST | None, depth: int = DEPTH) -> str | None:
    """The dtype of an expression that makes or converts a tensor, names followed to where they were set last."""
    if node is None or depth == 0:
        return None
    if isinstance(node, ast.Name):
        return _of_variable(module, node, depth - 1)
    return _of_call(module, node, depth) if isinstance(node, ast.Call) else None


def _of_call(module: PythonModule, node: ast.Call, depth: int) -> str | None:
    given = dtype_name(module, argument(node, "dtype"))
    name = name_of(module, node.func) or ""
    if given is not None:
        return given
    if name.startswith("torch."):
        return _of_function(name.rpartition(".")[2])
    return _of_method(module, node, node.func, depth - 1) if isinstance(node.func, ast.Attribute) else None


def _of_function(last: str) -> str | None:
    return TYPES.get(last) or ("bool" if last in PREDICATES else None)


def _of_method(module: PythonModule, call: ast.Call, func: ast.Attribute, depth: int) -> str | None:
    if func.attr in METHODS:
        return METHODS[func.attr]
    if func.attr in PREDICATES:
        return "bool"
    if func.attr in ("to", "type") and call.args:
        found = [dtype_name(module, one) for one in call.args]
        given = next((one for one in found if one is not None), None)
        return given or (dtype_of(module, func.value, depth) if func.attr == "to" else None)
    return dtype_of(module, func.value, depth) if func.attr in (*KEEP, "to") else None


def _of_variable(module: PythonModule, node: ast.Name, depth: int) -> str | None:
    value = _last_value(module, node)
    return dtype_of(module, value, depth) if value is not None else None


def _last_value(module: PythonModule, node: ast.Name) -> ast.AST | None:
    """By the last assignment above; nothing is certain where a loop or an unpacking sets the name."""
    owner = module.names.binding_scope(node.id, module.scope_at(module.range_of(node)[0]))
    bindings = owner.bindings.get(node.id, []) if owner is not None else []
    before = [b for b in bindings if b.line < node.lineno]
    if not before or any(b.kind != "value" for b in bindings if b.kind != "param"):
        return None
    last = max(before, key=lambda b: b.line)
    return last.node if last.kind == "value" else None


def moved(module: PythonModule, call: ast.Call) -> str | None:
    """The dtype of a tensor that ``.cuda()``, or ``.to(device)`` without a type, moves off the CPU."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("cuda", "npu", "to"):
        return None
    device = argument(call, "device", 0)
    if call.func.attr == "to" and (
        device is None or is_cpu(device) or any(dtype_name(module, one) for one in call.args)
    ):
        return None
    return dtype_of(module, call.func.value) if argument(call, "dtype") is None else None


def converted_on_device(module: PythonModule, call: ast.Call) -> tuple[ast.expr, str] | None:
    """The dtype in ``x.to(torch.uint32)``, where ``x`` is certainly on another device than the CPU."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("to", "type") or len(call.args) != 1:
        return None
    dtype = dtype_name(module, call.args[0])
    return (call.args[0], dtype) if dtype and is_on_device(module, call.func.value) else None


def is_on_device(module: PythonModule, node: ast.AST | None, depth: int = DEPTH) -> bool:
    """Whether the file shows that a tensor was made on, or moved to, another device than the CPU."""
    if isinstance(node, ast.Name) and depth:
        return is_on_device(module, _last_value(module, node), depth - 1)
    if not isinstance(node, ast.Call):
        return False
    last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if last in ("cuda", "npu"):
        return True
    device = argument(node, "device", 0 if last == "to" else None)
    if device is not None and not (last == "to" and dtype_name(module, device)):
        return (last == "to" or _is_torch(module, node.func)) and not is_cpu(device)
    return last in (*KEEP, *METHODS, "to", "type") and is_on_device(
        module, getattr(node.func, "value", None), depth - 1
    )


def dtype_on_device(module: PythonModule, call: ast.Call) -> tuple[ast.expr, str] | None:
    """The dtype (and where it stands) of a tensor that a call makes on, or moves to, another device than the CPU."""
    is_move = isinstance(call.func, ast.Attribute) and call.func.attr in MOVES
    if not is_move and (argument(call, "dtype") is None or not _is_torch(module, call.func)):
        return None
    given = [*call.args, *(keyword.value for keyword in call.keywords)] if is_move else [argument(call, "dtype")]
    found = next(((one, dtype) for one in given for dtype in [dtype_name(module, one)] if one and dtype), None)
    device = argument(call, "device")
    if is_move and device is None:
        device = next((one for one in call.args if found is not None and one is not found[0]), None)
    if found is None or device is None or is_cpu(device):
        return None
    parts = dotted(found[0]) or [""]
    kind = module.names.meaning(parts, module.scope_at(module.range_of(found[0])[0])).kind
    return found if kind == "import" else None  # a variable that holds a dtype is set somewhere else


def _is_torch(module: PythonModule, func: ast.expr) -> bool:
    return (name_of(module, func) or "").startswith("torch.")


def is_cpu(device: ast.expr) -> bool:
    """``"cpu"``, ``torch.device("cpu")``, ``None``."""
    if isinstance(device, ast.Call) and device.args:
        device = device.args[0]
    return isinstance(device, ast.Constant) and device.value in ("cpu", None)
