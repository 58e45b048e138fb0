"""Tests for CUDA that guard a kernel of CUDA's: tensors of an NPU must not go that way."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.names import dotted
from npu_migrate.trees import walk
from npu_migrate.values.arguments import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from npu_migrate.engine.module import PythonModule

KERNEL = re.compile(r"(^|_)cuda(_|$)|triton|cupy", re.IGNORECASE)
METHODS = frozenset({"cuda", "is_cuda", "use_cuda"})
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Guarded(NamedTuple):
    """A kernel that only runs where a test is true; ``otherwise``: whether the program has another way."""

    kernel: str
    otherwise: bool


def guarded(module: PythonModule, test: ast.expr) -> Guarded | None:
    """The kernel behind a test (``x.is_cuda``, ``device.type == "cuda"``), where there is one."""
    node: ast.AST = test
    holds = True
    above = module.parent(node)
    while isinstance(above, (ast.BoolOp, ast.UnaryOp)):
        if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
            holds = not holds
        node, above = above, module.parent(above)
    if isinstance(above, ast.IfExp) and above.test is node:
        return _in([above.body if holds else above.orelse], module, otherwise=True)
    if isinstance(above, ast.Assert) and above.test is node:
        return _in(_after(module, above), module, otherwise=False)
    if not isinstance(above, ast.If) or above.test is not node:
        return None
    if holds:
        return _in(above.body, module, otherwise=True)
    leaves = isinstance(above.body[-1], LEAVES)
    body = above.orelse or (_after(module, above) if leaves else [])
    return _in(body, module, otherwise=not isinstance(above.body[-1], ast.Raise))


def _in(body: Sequence[ast.AST], module: PythonModule, *, otherwise: bool) -> Guarded | None:
    for node in body:
        for inner in walk(node):
            for name in _names(module, inner):
                if KERNEL.search(name) and name not in METHODS:
                    return Guarded(name, otherwise)
    return None


def _names(module: PythonModule, node: ast.AST) -> Iterator[str]:
    """What a node calls or imports, but for what belongs to PyTorch."""
    if isinstance(node, ast.Call):
        if not (name_of(module, node.func) or "").startswith("torch."):
            yield from reversed(dotted(node.func) or [getattr(node.func, "attr", "")])
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        module_name = getattr(node, "module", None) or ""
        if module_name.partition(".")[0] != "torch":
            yield from (alias.name for alias in node.names if not alias.name.startswith("torch"))
            yield module_name


def _after(module: PythonModule, statement: ast.stmt) -> list[ast.stmt]:
    """The statements that follow in the same block."""
    found = module.statement_at(module.range_of(statement)[0])
    owner = found.parent.node if found is not None and found.parent is not None else module.tree
    for name in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] = getattr(owner, name, None) or []
        if isinstance(block, list) and statement in block:
            return block[block.index(statement) + 1 :]
    return []
