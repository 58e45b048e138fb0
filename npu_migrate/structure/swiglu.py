"""Finds SwiGLU of the two halves of a tensor: ``a, b = x.chunk(2, dim=-1)`` and then ``F.silu(a) * b``."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.trees import walk
from npu_migrate.values.arguments import argument, last_name, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule, Range

SILU = "torch.nn.functional.silu"
HALVES = 2
NUMBER = re.compile(r"-?\d+")


class Product(NamedTuple):
    """A product of halves: what they are halves of, along which dimension, and the statement that made them.

    ``alone`` tells that the product is all that the halves are for and comes right behind that statement.
    """

    node: ast.BinOp
    source: ast.expr
    dim: str
    made: ast.Assign
    alone: bool


def find(module: PythonModule) -> dict[Range, Product]:
    """All products of a file by the range of their expression."""
    return module.fact("products of halves", lambda: {module.range_of(p.node): p for p in _find(module)})


def _find(module: PythonModule) -> Iterator[Product]:
    if "chunk(" not in module.text:
        return
    for owner in walk(module.tree):
        if isinstance(owner, FUNCTIONS):
            yield from _in_function(module, owner)


def _in_function(module: PythonModule, owner: ast.AST) -> Iterator[Product]:
    nodes = list(walk(owner))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    reads = Counter(node.id for node in names if isinstance(node.ctx, ast.Load))
    bound = Counter(node.id for node in names if not isinstance(node.ctx, ast.Load))
    made = {pair: one for node in nodes if isinstance(node, ast.Assign) for pair, one in _halves(module, node)}
    for node in (one for one in nodes if isinstance(one, ast.BinOp)):
        pair = _factors(module, node)
        if pair not in made or any(bound[name] != 1 for name in pair):
            continue
        source, dim, statement = made[pair]
        behind = _next(module, statement)
        alone = behind is not None and behind is _statement(module, node) and all(reads[name] == 1 for name in pair)
        yield Product(node, source, dim, statement, alone and not (_calls(source) and _calls(behind, node)))


def _factors(module: PythonModule, node: ast.BinOp) -> tuple[str, str]:
    """The names in ``F.silu(a) * b``, in either order."""
    if not isinstance(node.op, ast.Mult):
        return "", ""
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(one, ast.Call) and len(one.args) + len(one.keywords) == 1 and name_of(module, one.func) == SILU:
            given = argument(one, "input", 0)
            return getattr(given, "id", ""), getattr(other, "id", "")
    return "", ""


def _halves(
    module: PythonModule, node: ast.Assign
) -> Iterator[tuple[tuple[str, str], tuple[ast.expr, str, ast.Assign]]]:
    """``a, b = x.chunk(2, dim=-1)`` and ``a, b = torch.chunk(x, 2, dim=-1)``."""
    target, call = node.targets[0], node.value
    if len(node.targets) != 1 or not isinstance(target, ast.Tuple) or not isinstance(call, ast.Call):
        return
    names = [one.id for one in target.elts if isinstance(one, ast.Name)]
    if len(names) != len(target.elts) or len(names) != HALVES or last_name(call.func) != "chunk":
        return
    function = int(name_of(module, call.func) == "torch.chunk")
    source = argument(call, "input", 0) if function else getattr(call.func, "value", None)
    chunks, along = argument(call, "chunks", function), argument(call, "dim", 1 + function)
    dim = ast.unparse(along) if along is not None else "0"
    if source is not None and getattr(chunks, "value", None) == HALVES and NUMBER.fullmatch(dim):
        yield (names[0], names[1]), (source, dim, node)


def _calls(node: ast.AST | None, before: ast.expr | None = None) -> bool:
    """Whether a node calls anything; ``before``: that is over before this part of it is reached."""
    calls = (one for one in walk(node) if isinstance(one, ast.Call)) if node is not None else ()
    return any(before is None or _end(one) <= (before.lineno, before.col_offset) for one in calls)


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _statement(module: PythonModule, node: ast.AST) -> ast.AST | None:
    found = module.statement_at(module.range_of(node)[0])
    return found.node if found is not None else None


def _next(module: PythonModule, node: ast.stmt) -> ast.AST | None:
    """The statement behind one, in the same block."""
    found = module.statement_at(module.range_of(node)[0])
    owner = found.parent.node if found is not None and found.parent is not None else module.tree
    for name in ("body", "orelse", "finalbody"):
        block = getattr(owner, name, None)
        if isinstance(block, list) and node in block:
            return next(iter(block[block.index(node) + 1 :]), None)
    return None
