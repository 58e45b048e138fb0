"""``F.silu(a) * b`` of ``a, b = x.chunk(2, dim=-1)``: what the release has one operator for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.inspector import Inspector, Status
from npu_migrate.trees import walk
from npu_migrate.values.arguments import argument, last_name

if TYPE_CHECKING:
    from npu_migrate.target import Target

FUSED = "torch_npu.npu_swiglu"
SILU = "torch.nn.functional.silu"


class Halves(NamedTuple):
    """The names of two halves of a tensor, and how they were made."""

    first: str
    second: str
    source: str
    dim: str


class SwiGlu(Inspector):
    """Points at the product; the operator runs on the NPU only, so nothing is rewritten."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # whether it has the operator is asked at a site
        return frozenset({"silu("})

    @classmethod
    def opening(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # no file is read for this alone
        return frozenset()

    def visit(self, node: ast.expr) -> None:
        if not isinstance(node, ast.Call) or self.qualified_name(node) != SILU or not self.target.has(FUSED):
            return
        statement = self.module.statement_at(self.module.range_of(node)[0])
        if statement is None:
            return
        self.module.index(statement.node)
        above = self.module.parent(node)
        if not isinstance(above, ast.BinOp) or not isinstance(above.op, ast.Mult):
            return
        other = above.right if above.left is node else above.left
        pair = getattr(argument(node, "input", 0), "id", ""), getattr(other, "id", "")
        found = next((one for one in _halves(statement.scope.node) if (one.first, one.second) == pair), None)
        if found is not None:
            self.report(node, Status.ADVICE, "fused", symbol=SILU, source=found.source, dim=found.dim)


def _halves(scope: ast.AST) -> list[Halves]:
    found = []
    for node in walk(scope):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Tuple) and isinstance(call, ast.Call) and last_name(call.func) == "chunk":
            found += _of_chunk(target, call)
    return found


def _of_chunk(target: ast.Tuple, call: ast.Call) -> list[Halves]:
    """``x.chunk(2, dim=-1)`` and ``torch.chunk(x, 2, dim=-1)``."""
    function = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "torch"
    source = call.args[0] if function and call.args else getattr(call.func, "value", None)
    chunks, dim = argument(call, "chunks", int(function)), argument(call, "dim", 1 + int(function))
    names = [one.id for one in target.elts if isinstance(one, ast.Name)]
    two = isinstance(chunks, ast.Constant) and chunks.value == 2 and len(names) == len(target.elts) == 2  # noqa: PLR2004  # halves
    if not two or not isinstance(source, ast.expr):
        return []
    return [Halves(names[0], names[1], ast.unparse(source), ast.unparse(dim) if dim is not None else "0")]
