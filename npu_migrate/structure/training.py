"""Follows a model that is made half precision: is it trained, and is the loop simple enough to put under autocast?"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.structure.calls import statements_with
from npu_migrate.trees import children, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.engine.module import PythonModule, Range

MIXED = ("autocast", "GradScaler", "scale_loss", "FP16_Optimizer", "amp")
TRAINED = ("trained", "followed")
CLIPS = ("clip_grad_norm_", "clip_grad_value_")


class Loop(NamedTuple):
    """A training step in one block: the statements of the forward pass, the backward pass and the update."""

    forward: tuple[ast.stmt, ...]
    backward: ast.stmt
    step: ast.stmt
    clip: ast.stmt | None
    optimizer: str
    halves: tuple[ast.Call, ...]


class Half(NamedTuple):
    """A call of ``.half()``: ``use`` is inference, rounded, copied, engine, trained or followed (with its loop)."""

    call: ast.Call
    use: str
    statement: ast.stmt | None = None
    loop: Loop | None = None


def find(module: PythonModule) -> dict[Range, Half]:
    """Every ``.half()`` of a file by range."""
    return module.fact("halves", lambda: {module.range_of(h.call): h for h in _find(module)})


def _find(module: PythonModule) -> Iterator[Half]:
    owners = {statement.scope.node: None for statement in statements_with(module, r"\.half\(\)")}
    for owner in owners:
        body = list(_own(owner))
        halves = [n for n in body if _is_half(n)]
        for call in halves:
            if isinstance(call, ast.Call):
                yield _judge(module, owner, body, call)


def _own(owner: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or module without those of functions and classes inside it."""
    stack = children(owner)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            stack.extend(children(node))


def _is_half(node: ast.AST) -> bool:
    method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "half"
    return method and not node.args and not node.keywords  # type: ignore[attr-defined]  # a call


def _judge(module: PythonModule, owner: ast.AST, body: list[ast.AST], call: ast.Call) -> Half:
    if any(isinstance(n, ast.Attribute) and n.value is call and n.attr == "float" for n in body):
        return Half(call, "rounded")
    statement = next((s for s in body if isinstance(s, (ast.Assign, ast.Expr)) and _is_whole(s, call)), None)
    model = _model(statement, call) if statement is not None else None
    trains = _trains(body)
    elsewhere = model is not None and _trained_elsewhere(module, owner, body, model)
    called = model is not None and any(isinstance(n, ast.Call) and dotted(n.func) == model.split(".") for n in body)
    if model is None or statement is None or not (called or elsewhere) or not (trains or elsewhere):
        return Half(call, "copied" if trains else "inference")
    if any(_is_backward(n) and n.args for n in body):  # type: ignore[attr-defined]  # calls
        return Half(call, "engine")
    if not trains:
        return Half(call, "trained")
    mixed = any(isinstance(n, ast.Name) and n.id in MIXED for n in body)
    several = sum(1 for n in body if isinstance(n, (ast.Assign, ast.Expr)) and _rooted(n, model)) != 1
    loop = _loop(owner, body, model, call) if isinstance(owner, FUNCTIONS) and not (mixed or several) else None
    return Half(call, "followed" if loop is not None else "trained", statement, loop)


def _rooted(statement: ast.Assign | ast.Expr, model: str) -> bool:
    return any(_is_half(n) and _model(statement, n) == model for n in walk(statement.value))  # type: ignore[arg-type]  # calls


def _is_whole(statement: ast.Assign | ast.Expr, call: ast.Call) -> bool:
    """Whether a statement's value is the call itself, or methods that follow it: ``model.half().cuda()``."""
    node: ast.AST = statement.value
    while node is not call:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        node = node.func.value
    return True


def _model(statement: ast.Assign | ast.Expr, call: ast.Call) -> str | None:
    """The name under which what is made half precision goes on."""
    if isinstance(statement, ast.Assign):
        parts = dotted(statement.targets[0]) if len(statement.targets) == 1 else None
    else:
        node: ast.AST = call
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        parts = dotted(node)
    return ".".join(parts) if parts else None


def _is_backward(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"


def _trains(nodes: Iterable[ast.AST]) -> bool:
    """Whether there is a backward pass and an update; the first alone is a test of gradients."""
    names = [n.func.attr for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    return "backward" in names and "step" in names


def _trained_elsewhere(module: PythonModule, owner: ast.AST, body: list[ast.AST], model: str) -> bool:
    """Whether a model goes into a function of this file that trains, or belongs to an object whose methods do."""
    if model.startswith("self."):
        scope = module.table.scopes.get(owner)
        outer = scope.parent.node if scope is not None and scope.parent is not None else owner
        return isinstance(outer, ast.ClassDef) and _trains(walk(outer))
    for node in body:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        bindings = module.table.module.bindings.get(node.func.id, [])
        target = bindings[0].node if len(bindings) == 1 else None
        given = [*node.args, *(k.value for k in node.keywords)]
        passed = any(dotted(a) == model.split(".") for a in given)
        if passed and isinstance(target, FUNCTIONS) and _trains(walk(target)):
            return True
    return False


def _loop(owner: ast.AST, body: list[ast.AST], model: str, made: ast.Call) -> Loop | None:
    """The one simple loop of a function; None where anything is not as expected."""
    backwards = [s for s in body if isinstance(s, ast.Expr) and _is_backward(s.value)]
    if len(backwards) != 1 or sum(map(_is_backward, body)) != 1:
        return None
    block = next((b for b in _blocks(owner) if backwards[0] in b), [])
    at = block.index(backwards[0])
    calls = [i for i, s in enumerate(block[:at]) if _calls(s, model)]
    steps = _steps(body)
    if not calls or len(steps) != 1 or any(_calls(s, model) for s in block[at:]):
        return None
    forward = block[calls[0] : at]
    loss = dotted(backwards[0].value.func.value)  # type: ignore[attr-defined]  # a method call
    simple = all(isinstance(s, (ast.Assign, ast.AugAssign, ast.Expr)) for s in forward)
    inner = [s for s in _blocks(owner) if steps[0][0] in s]
    clips = [s for s in body if isinstance(s, ast.Expr) and _clips(s)]
    if loss is None or not simple or not inner or len(clips) > 1 or (clips and clips[0] not in inner[0]):
        return None
    halves = [n for s in [*block[: calls[0]], *forward] for n in walk(s) if _is_half(n) and n is not made]
    return Loop(
        tuple(forward),
        backwards[0],
        steps[0][0],
        clips[0] if clips else None,
        steps[0][1],
        tuple(n for n in halves if isinstance(n, ast.Call)),
    )


def _blocks(owner: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in [owner, *_own(owner)]:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and not (node is not owner and isinstance(node, (*FUNCTIONS, ast.ClassDef))):
                yield block


def _calls(statement: ast.stmt, model: str) -> bool:
    return any(isinstance(n, ast.Call) and dotted(n.func) == model.split(".") for n in walk(statement))


def _steps(body: list[ast.AST]) -> list[tuple[ast.stmt, str]]:
    """``optimizer.step()`` as a statement; schedulers, which have no ``zero_grad``, are not meant."""
    cleared = {
        tuple(p[:-1]) for n in body if isinstance(n, ast.Call) and (p := dotted(n.func)) and p[-1] == "zero_grad"
    }
    found: list[tuple[ast.stmt, str]] = []
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        parts = dotted(call.func) if isinstance(call, ast.Call) and not call.args and not call.keywords else None
        if parts and parts[-1] == "step" and tuple(parts[:-1]) in cleared and isinstance(node, ast.Expr):
            found.append((node, ".".join(parts[:-1])))
    return found


def _clips(statement: ast.Expr) -> bool:
    parts = dotted(statement.value.func) if isinstance(statement.value, ast.Call) else None
    return bool(parts) and parts is not None and parts[-1] in CLIPS
