"""Follows a model that is made half precision: is it trained, and is the loop simple enough to put under autocast?"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.structure.blocks import alone, block_of, forward_of, holder, own, readers
from npu_migrate.structure.calls import statements_with
from npu_migrate.trees import walk
from npu_migrate.values.arguments import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.engine.module import PythonModule, Range

MIXED = ("autocast", "GradScaler", "scale_loss", "FP16_Optimizer", "amp")
TRAINED = ("trained", "followed")
# Casts count where something is trained at all.
WORDS = (r"\.half\(\)", r"torch\.float16", r"torch\.half")
HALF = frozenset({"torch.half", "torch.float16"})


class Loop(NamedTuple):
    """A training step in one block: the statements of the forward pass, the backward pass and the update.

    ``clip`` is the first statement that reads gradients, ``halves`` the calls that make inputs half precision.
    """

    forward: tuple[ast.stmt, ...]
    backward: ast.stmt
    step: ast.stmt
    clip: ast.stmt | None
    optimizer: str
    halves: tuple[ast.Call, ...]
    scaler: str = "scaler"


class Half(NamedTuple):
    """A call of ``.half()``: ``use`` is inference, rounded, copied, engine, trained or followed (with its loop).

    Casts that say the type (``.to(torch.half)``) are only told of models that are trained.
    """

    call: ast.Call
    use: str
    statement: ast.stmt | None = None
    loop: Loop | None = None


def find(module: PythonModule) -> dict[Range, Half]:
    """Every ``.half()`` of a file by range."""
    return module.fact("halves", lambda: {module.range_of(h.call): h for h in _find(module)})


def _find(module: PythonModule) -> Iterator[Half]:
    words = WORDS if ".backward(" in module.text else WORDS[:1]
    owners = {found.scope.node: None for word in words for found in statements_with(module, word)}
    for owner in owners:
        body = list(own(owner))
        for call in (n for n in body if isinstance(n, ast.Call)):
            if _is_half(call):
                yield _judge(module, owner, body, call)
            elif _is_cast(module, call):
                found = _judge(module, owner, body, call)._replace(loop=None)
                if found.use in TRAINED:
                    yield found._replace(use="trained")


def _is_half(node: ast.AST) -> bool:
    method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "half"
    return method and not node.args and not node.keywords  # type: ignore[attr-defined]  # a call


def _is_cast(module: PythonModule, call: ast.Call) -> bool:
    """``model.to(torch.float16)``, also with a device or by keyword, and ``model.type(torch.half)``."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in {"to", "type"}:
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in {"dtype", "dst_type"})]
    return any(name_of(module, one) in HALF for one in given)


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
        loop = _loop_elsewhere(module, owner, statement, model, call)
        return Half(call, "followed" if loop is not None else "trained", statement, loop)
    mixed = _is_mixed(body)
    several = sum(1 for n in body if isinstance(n, (ast.Assign, ast.Expr)) and _rooted(n, model)) != 1
    loop = _loop(module, owner, body, model, call) if not (mixed or several) else None
    return Half(call, "followed" if loop is not None else "trained", statement, loop)


def _is_mixed(nodes: Iterable[ast.AST]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in MIXED for n in nodes)


def _loop_elsewhere(
    module: PythonModule, owner: ast.AST, statement: ast.stmt, model: str, call: ast.Call
) -> Loop | None:
    """The one loop of another method of the class, or of a function that uses the same global names."""
    scope = module.table.scopes[owner]
    in_class = model.startswith("self.")
    outer = scope.parent.node if in_class and scope.parent is not None else owner
    if statement not in getattr(owner, "body", ()) or not (in_class or owner is module.tree):
        return None
    others = [f for f in getattr(outer, "body", ()) if isinstance(f, FUNCTIONS)]
    users = [f for f in others if _is_mixed(walk(f)) or any(map(_is_backward, walk(f)))]
    halved = [n for n in walk(outer) if isinstance(n, (ast.Assign, ast.Expr)) and _rooted(n, model)]
    if len(users) != 1 or len(halved) != 1 or _is_mixed(walk(users[0])):
        return None
    used = users[0]
    loop = _loop(module, used, list(own(used)), model, call)
    names = [] if loop is None or in_class else [model.partition(".")[0], loop.optimizer.partition(".")[0]]
    if any(module.names.binding_scope(name, module.table.scopes[used]) is not module.table.module for name in names):
        return None
    elsewhere = [f for f in walk(outer) if isinstance(f, FUNCTIONS) and f is not used and _calls(f, model)]
    if loop is None or any(_is_half(n) and n is not call for f in elsewhere for n in walk(f)):
        return None
    return loop._replace(scaler="self.scaler") if in_class else loop


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
    if owner is module.tree and any(_trains_global(module, f, model) for f in module.tree.body):
        return True
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


def _trains_global(module: PythonModule, function: ast.stmt, model: str) -> bool:
    """Whether a function trains a model that is a global name of the file."""
    if not isinstance(function, FUNCTIONS) or not _trains(own(function)):
        return False
    scope = module.names.binding_scope(model.partition(".")[0], module.table.scopes[function])
    return scope is module.table.module and any(_calls(n, model) for n in function.body)


def _loop(module: PythonModule, owner: ast.AST, body: list[ast.AST], model: str, made: ast.Call) -> Loop | None:
    """The one simple loop of a function; None where anything is not as expected."""
    backwards = [s for s in body if isinstance(s, ast.Expr) and _is_backward(s.value)]
    if len(backwards) != 1 or sum(map(_is_backward, body)) != 1:
        return None
    backward, steps = backwards[0], _steps(body)
    block = block_of(owner, backward)
    at = block.index(backward) if backward in block else 0
    loss = backward.value.func.value  # type: ignore[attr-defined]  # a method call
    forward = forward_of(block, backward, loss, frozenset([model])) if dotted(loss) else []
    if len(steps) != 1 or not forward or any(_calls(s, model) for s in block[at:]):
        return None
    step, optimizer = steps[0]
    clips = [holder(block_of(owner, step), r) for r in readers(module, block, backward, step)]
    edited = [step, backward, forward[0], forward[-1], *(c for c in clips if c is not None)]
    if holder(block[at + 1 :], step) is None or None in clips or not all(alone(module, s) for s in edited):
        return None
    first = min((c for c in clips if c is not None), key=lambda c: module.range_of(c)[0], default=None)
    before = [*block[: block.index(forward[0])], *forward]
    halves = [n for s in before for n in walk(s) if isinstance(n, ast.Call) and _is_half(n) and n is not made]
    others = [n for n in body if _is_half(n) and n is not made and n not in halves]
    outside = [n for n in body if isinstance(n, ast.Call) and dotted(n.func) == model.split(".")]
    outside = [n for n in outside if not any(n in walk(s) for s in forward)]
    if others and outside:
        return None
    return Loop(tuple(forward), backward, step, first, optimizer, tuple(halves))


def _calls(statement: ast.AST, model: str) -> bool:
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
