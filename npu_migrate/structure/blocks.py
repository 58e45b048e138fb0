"""Statements round a training step: what stands in which block, what reads gradients, what goes beside them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.trees import children, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule

OWNERS = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
SCALER = "torch_npu.npu.amp.GradScaler"
AUTOCAST = 'torch.autocast("npu", dtype=torch.float16)'
READS_GRADIENTS = re.compile(r"clip_grad|clip_master_grads|\.grad\b|master_params|grad_norm|\bparameters\(\)")


@dataclass
class Changes:
    """Edits of statements; each is found by the offset at which it starts.

    ``before`` and ``after`` put lines beside a statement, ``instead`` in its place (none: it goes), ``under`` puts the
    statements from one to another into a ``with`` that reads so.
    """

    before: dict[int, list[str]] = field(default_factory=dict)
    after: dict[int, list[str]] = field(default_factory=dict)
    instead: dict[int, list[str]] = field(default_factory=dict)
    under: list[tuple[int, int, str]] = field(default_factory=list)

    def touches(self, starts: list[int]) -> bool:
        """Whether there is an edit for a block whose statements start there."""
        known = {*self.before, *self.after, *self.instead, *(first for first, _, _ in self.under)}
        return not known.isdisjoint(starts)


def own(owner: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or module without those of functions and classes inside it."""
    stack = list(children(owner))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, OWNERS):
            stack.extend(children(node))


def blocks(owner: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of a function or module, its own body first."""
    for node in [owner, *own(owner)]:
        if node is owner or not isinstance(node, OWNERS):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list):
                    yield block


def block_of(owner: ast.AST, statement: ast.stmt) -> list[ast.stmt]:
    """The block that a statement of ``owner`` stands in; empty where it is not one of its own."""
    return next((block for block in blocks(owner) if statement in block), [])


def holder(block: list[ast.stmt], node: ast.AST) -> ast.stmt | None:
    """The statement of a block that is, or holds, a node."""
    return next((statement for statement in block if any(inner is node for inner in walk(statement))), None)


def alone(module: PythonModule, statement: ast.stmt) -> bool:
    """Whether a statement shares its lines with no other one."""
    start, end = module.range_of(statement)
    before = module.text[module.line_start(module.line_of(start)) : start]
    after = module.text[end : module.line_start(module.line_of(max(start, end - 1)) + 1)].strip()
    return not before.strip() and (not after or after.startswith("#"))


def source(module: PythonModule, node: ast.AST) -> str:
    """The text of a node."""
    start, end = module.range_of(node)
    return module.text[start:end]


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a dotted name is called below a node, or given to a call."""
    wanted = name.split(".")
    calls = (n for n in walk(node) if isinstance(n, ast.Call))
    return any(dotted(part) == wanted for c in calls for part in (c.func, *c.args, *(k.value for k in c.keywords)))


def forward_of(block: list[ast.stmt], backward: ast.stmt, loss: ast.expr, models: frozenset[str]) -> list[ast.stmt]:
    """The statements of a block from the first that runs the model to the last that makes the loss; else none."""
    before = block[: block.index(backward)]
    wanted = {".".join(p) for n in walk(loss) if isinstance(n, (ast.Name, ast.Attribute)) and (p := dotted(n))}
    makes = [i for i, statement in enumerate(before) if wanted & set(_bound(statement))]
    runs = [i for i, s in enumerate(before) if any(_runs(s, model) for model in models)]
    if not makes or not runs or runs[0] > makes[-1]:
        return []
    forward = before[runs[0] : makes[-1] + 1]
    simple = all(not isinstance(n, (*OWNERS[:-1], ast.Yield, ast.YieldFrom)) for s in forward for n in walk(s))
    return forward if simple else []


def _runs(statement: ast.stmt, model: str) -> bool:
    """Whether the model is called, or given to what makes a value; ``ema.update(model)`` makes none."""
    called = any(isinstance(n, ast.Call) and dotted(n.func) == model.split(".") for n in walk(statement))
    return called or (isinstance(statement, ast.Assign) and mentions(statement.value, model))


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The dotted names that a statement, or one inside it, gives a value."""
    for node in walk(statement):
        context = getattr(node, "ctx", None)
        if isinstance(context, ast.Store) and isinstance(node, (ast.Name, ast.Attribute)) and (parts := dotted(node)):
            yield ".".join(parts)


def readers(module: PythonModule, block: list[ast.stmt], backward: ast.stmt, step: ast.stmt) -> list[ast.stmt]:
    """The statements that read gradients between the backward pass and the update."""
    begin, end = module.range_of(backward)[1], module.range_of(step)[0]
    return [
        n
        for statement in block
        for n in walk(statement)
        if isinstance(n, (ast.Expr, ast.Assign, ast.AugAssign))
        and begin <= module.range_of(n)[0] < end
        and READS_GRADIENTS.search(source(module, n))
    ]
