"""Tests for CUDA that guard a kernel of CUDA's: tensors of an NPU must not go that way."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.trees import walk
from npu_migrate.values.arguments import last_name
from npu_migrate.values.kernels import Kernels, builds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_migrate.engine.module import PythonModule

LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
DENIALS = (ast.NotEq, ast.NotIn, ast.IsNot)
SAME_TRUTH = frozenset({"all", "any", "bool"})


class Guarded(NamedTuple):
    """A kernel that only runs where a test is true; ``otherwise``: whether the program has another way."""

    kernel: str
    otherwise: bool


def guarded(module: PythonModule, test: ast.expr, *, alone: bool = False) -> Guarded | None:
    """The kernel behind a test (``x.is_cuda``, ``device.type == "cuda"``), where there is one.

    ``alone``: only where each statement behind the test is about a kernel, for tests that choose the device of a whole
    program.
    """
    return Guards(module, alone=alone).behind(test)


def guarded_case(module: PythonModule, pattern: ast.AST) -> Guarded | None:
    """The kernel in the body of ``case "cuda":``, by its pattern."""
    case = module.parent(pattern)
    kernel = Kernels.of(module).first(getattr(case, "body", []))
    return Guarded(kernel, otherwise=True) if kernel is not None else None


def guarded_entry(module: PythonModule, table: ast.Dict, key: ast.expr) -> Guarded | None:
    """The kernel that a table of functions by device has for ``key``."""
    value = next((value for one, value in zip(table.keys, table.values) if one is key), None)
    kernel = Kernels.of(module).first([value]) if value is not None else None
    return Guarded(kernel, otherwise=False) if kernel is not None else None


class Guards:
    """Climbs from a test to what it decides."""

    def __init__(self, module: PythonModule, *, alone: bool) -> None:
        self.module = module
        self.kernels = Kernels.of(module)
        self.alone = alone

    def behind(self, test: ast.expr, *, follow: bool = True) -> Guarded | None:
        """The kernel that only runs where ``test`` holds; ``follow``: also through a variable that keeps the answer."""
        node: ast.AST = test
        holds = not (isinstance(test, ast.Compare) and isinstance(test.ops[0], DENIALS))
        above = self.module.parent(node)
        while above is not None:
            if isinstance(above, ast.BoolOp):
                beside = self._beside(node, above, holds=holds)
                if beside is not None:
                    return Guarded(beside, otherwise=True)
            elif isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
                holds = not holds
            elif not _same_truth(node, above):
                break
            node, above = above, self.module.parent(above)
        if isinstance(above, (ast.Assign, ast.NamedExpr)) and above.value is node and holds and follow:
            return self._through_variable(above)
        return self._decided(node, above, holds=holds)

    def _beside(self, node: ast.AST, above: ast.BoolOp, *, holds: bool) -> str | None:
        """The kernel in ``x.is_cuda and kernel(x)``."""
        if isinstance(above.op, ast.And) is not holds:
            return None
        return self.kernels.first(value for value in above.values if value is not node)

    def _decided(self, node: ast.AST, above: ast.AST | None, *, holds: bool) -> Guarded | None:
        if getattr(above, "test", None) is not node:
            return None
        if isinstance(above, ast.IfExp):
            return self._in([above.body if holds else above.orelse], otherwise=True)
        if isinstance(above, ast.Assert):
            return self._in(self._after(above), otherwise=False) if holds else None
        if isinstance(above, ast.While) and holds:
            return self._in(above.body, otherwise=True)
        if not isinstance(above, ast.If):
            return None
        if holds:
            return self._in(above.body, otherwise=True)
        leaves = isinstance(above.body[-1], LEAVES)
        body = above.orelse or (self._after(above) if leaves else [])
        return self._in(body, otherwise=not isinstance(above.body[-1], ast.Raise))

    def _in(self, body: Sequence[ast.AST], *, otherwise: bool) -> Guarded | None:
        if builds(self.module, body):
            return Guarded("CUDAExtension", otherwise)
        kernel = self.kernels.first(body)
        if kernel is None or (self.alone and any(self.kernels.first([node]) is None for node in body)):
            return None
        return Guarded(kernel, otherwise)

    def _through_variable(self, above: ast.Assign | ast.NamedExpr) -> Guarded | None:
        """``fast = x.is_cuda``: a guard if all that asks ``fast`` is one."""
        target = above.targets[0] if isinstance(above, ast.Assign) else above.target
        if not isinstance(target, ast.Name):
            return None
        scope = self.module.scope_at(self.module.range_of(target)[0])
        owner = self.module.names.binding_scope(target.id, scope)
        if owner is None or len(owner.bindings.get(target.id, ())) != 1:
            return None
        self.module.index(owner.node)
        reads = [n for n in walk(owner.node) if isinstance(n, ast.Name) and n.id == target.id and _is_read(n)]
        found = [self.behind(read, follow=False) for read in reads]
        return found[0] if found and None not in found else None

    def _after(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that follow in the same block."""
        found = self.module.statement_at(self.module.range_of(statement)[0])
        owner = found.parent.node if found is not None and found.parent is not None else self.module.tree
        for name in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] = getattr(owner, name, None) or []
            if isinstance(block, list) and statement in block:
                return block[block.index(statement) + 1 :]
        return []


def _same_truth(node: ast.AST, above: ast.AST) -> bool:
    """``all(x.is_cuda for x in xs)`` and ``bool(x.is_cuda)`` go on as the test in them."""
    if isinstance(above, (ast.GeneratorExp, ast.ListComp)):
        return above.elt is node
    return isinstance(above, ast.Call) and node in above.args and last_name(above.func) in SAME_TRUTH


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)
