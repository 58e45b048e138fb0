"""Data types: an operator that is given a tensor of a type which Huawei's documents do not name for it.

Looked at from the type, since few statements name one: what takes the tensor that has it?
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_migrate.operators.tables import words
from npu_migrate.operators.uses import Use, use_of
from npu_migrate.target.support import Support, support
from npu_migrate.values.arguments import argument, text_of
from npu_migrate.values.dtypes import METHODS, dtype_name

if TYPE_CHECKING:
    from npu_migrate.engine.work import Work

TYPES = {"float64": "fp64", "float16": "fp16", "bfloat16": "bf16", "complex64": "complex64", "complex128": "complex128"}
TYPES |= {"int8": "int8", "uint8": "uint8", "int16": "int16", "bool": "bool"}
# How programs write those of them that documents leave out.
NAMES = frozenset({"double", "float64", "bfloat16", "bfloat16(", "complex64", "complex128", "cfloat", "cdouble"})
NAMES |= {"half(", "float16", "int8", "uint8", "int16", "double("}
_CONVERTS = ("to", "type")
_KEEPS = ("clone", "contiguous", "detach", "flatten", "reshape", "squeeze", "unsqueeze", "view", "to", "cuda", "npu")


@dataclass(frozen=True)
class Limit:
    """A use with a type that the documents do not name; ``families`` are the devices that alone exclude it."""

    node: ast.expr
    use: Use
    dtype: str
    documented: Support
    families: tuple[str, ...] = ()


def limit_at(work: Work, node: ast.expr) -> Limit | None:
    """What is wrong with what takes a tensor of the type that a node names; found once, whoever asks."""
    known: dict[ast.expr, Limit | None] = work.module.fact("limits of types", dict)
    if node not in known:
        known[node] = _limit(work, node)
    return known[node]


def _limit(work: Work, node: ast.expr) -> Limit | None:
    dtype, taker = _taker(work, node)
    use = use_of(work.module, taker) if taker is not None else None
    if taker is None or use is None or not use.sure or use.name.rpartition(".")[2] in words("factories"):
        return None
    documented = support(work.settings.target.torch, use.name)
    if documented is None or _on_the_cpu(taker):
        return None
    short = TYPES[dtype]
    excluded = tuple(
        family for family, text in documented.families if text.startswith("-") and short in text[1:].split()
    )
    if excluded or (documented.dtypes and short not in documented.dtypes_on("A2")):
        return Limit(taker, use, dtype, documented, excluded)
    return None


def _taker(work: Work, node: ast.expr) -> tuple[str, ast.Call | None]:
    """The type, and the call that takes a tensor of it."""
    statement = work.module.statement_at(work.module.range_of(node)[0])
    if statement is not None:
        work.module.index(statement.node)
    above = work.module.parent(node)
    if isinstance(node, ast.Call):
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        dtype = METHODS.get(method, "") if not node.args and not node.keywords else ""
        return (dtype, _taking(work, node)) if dtype in TYPES else ("", None)
    dtype = dtype_name(work.module, node) or ""
    call = work.module.parent(above) if isinstance(above, ast.keyword) and above.arg == "dtype" else above
    if dtype not in TYPES or not isinstance(call, ast.Call):
        return "", None
    if isinstance(call.func, ast.Attribute) and call.func.attr in _CONVERTS:
        return dtype, _taking(work, call)
    return dtype, call if isinstance(above, ast.keyword) else None


def _taking(work: Work, value: ast.expr) -> ast.Call | None:
    """The call that takes a value as its first argument, or as the object of its method."""
    above = work.module.parent(value)
    if isinstance(above, ast.Call) and above.args and above.args[0] is value:
        return above
    method = work.module.parent(above) if isinstance(above, ast.Attribute) else None
    if isinstance(above, ast.Attribute) and isinstance(method, ast.Call) and method.func is above:
        return _taking(work, method) if above.attr in _KEEPS else method
    return None


def _on_the_cpu(call: ast.Call) -> bool:
    """Whether a call names the CPU, or gives an array of NumPy, which no tensor of an accelerator does."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "numpy":
        return True
    return (text_of(argument(call, "device")) or "").startswith("cpu")
