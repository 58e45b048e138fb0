"""Follows the training steps that belong to a set-up of apex: forward pass, scaled loss, clipping, update."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.structure.apex_setup import is_main
from npu_migrate.structure.blocks import alone, block_of, forward_of, holder, own, readers, source
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.apex_setup import Setup

SCALE_LOSS, MASTER_PARAMS = "apex.amp.scale_loss", "apex.amp.master_params"
PAIR = ("loss", "optimizer")


class Step(NamedTuple):
    """One training step.

    ``scaled`` and ``masters`` are the calls of apex in it; ``backward`` is the statement that computes gradients,
    ``keywords`` what it hands to ``backward``; ``unscale`` is the first statement that reads gradients.
    """

    owner: ast.AST
    forward: tuple[ast.stmt, ...]
    backward: ast.stmt
    loss: ast.expr
    keywords: str
    update: ast.stmt
    unscale: ast.stmt | None
    scaled: tuple[ast.Call, ...]
    masters: tuple[ast.Call, ...]


def follow(module: PythonModule, setup: Setup) -> tuple[Step, ...] | str:
    """The steps of a file, or the reason why one cannot be followed."""
    sites = [n for n in walk(module.tree) if _is_backward(module, n, setup)]
    if not sites:
        return "elsewhere"
    steps: list[Step] = []
    for site in sites:
        owner = next((a for a in module.ancestors(site) if isinstance(a, FUNCTIONS)), module.tree)
        if any(step.owner is owner for step in steps):
            return "several"
        if not _same_names(module, setup, owner, site):
            return "elsewhere"
        step = _step(module, setup, owner, site)
        if isinstance(step, str):
            return step
        steps.append(step)
    updates = [n for n in walk(module.tree) if _is_update(n, setup.optimizer)]
    return tuple(steps) if len(updates) == len(steps) else "update"


def named(module: PythonModule, node: ast.AST) -> str:
    """The absolute name of what a call calls; empty where it is not certain."""
    parts = dotted(node.func) if isinstance(node, ast.Call) else None
    return module.names.meaning(parts, module.scope_at(module.range_of(node)[0])).name or "" if parts else ""


def _is_backward(module: PythonModule, node: ast.AST, setup: Setup) -> bool:
    if not setup.model:
        return isinstance(node, ast.Call) and dotted(node.func) == [*setup.optimizer.split("."), "backward"]
    return named(module, node) == SCALE_LOSS


def _is_update(node: ast.AST, optimizer: str) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) == [*optimizer.split("."), "step"]


def _same_names(module: PythonModule, setup: Setup, owner: ast.AST, site: ast.AST) -> bool:
    """Whether model, optimizer, scaler and the test mean in the step what they mean in the set-up."""
    flag = [n for n in walk(setup.flag) if isinstance(n, ast.Name)] if setup.flag is not None else []
    heads = {setup.model.partition(".")[0], setup.optimizer.partition(".")[0], *(n.id for n in flag)} - {"", "self"}
    here, there = module.table.scopes[owner], module.table.scopes[setup.owner]
    if any(module.names.binding_scope(h, here) is not module.names.binding_scope(h, there) for h in heads):
        return False
    block = block_of(setup.owner, setup.anchor)
    if owner is setup.owner:
        return holder(block[block.index(setup.anchor) :], site) is not None
    if setup.scaler.startswith("self."):
        outer = here.parent
        same = outer is not None and outer is there.parent and outer.is_class
        return same and block is setup.owner.body  # type: ignore[attr-defined]  # a method
    above = module.parent(setup.anchor)
    return setup.owner is module.tree and (above is module.tree or (isinstance(above, ast.If) and is_main(above)))


def _step(module: PythonModule, setup: Setup, owner: ast.AST, site: ast.AST) -> Step | str:
    read = _with_scaled(module, setup, site) if setup.model else _through_optimizer(module, setup, site)
    if isinstance(read, str):
        return read
    backward, loss, keywords = read
    at = module.parent(backward)
    choice = at if isinstance(at, ast.If) and setup.flag is not None else None
    if (setup.flag is not None) != (choice is not None) or (
        choice is not None and not _is_choice(module, choice, setup, loss, backward)
    ):
        return "condition"
    block = block_of(owner, choice or backward)
    models = _models(setup, owner)
    forward = forward_of(block, choice or backward, loss, models)
    if not forward or not all(alone(module, s) for s in (forward[0], forward[-1])):
        return "forward"
    updates = [n for n in own(owner) if isinstance(n, ast.Expr) and _is_update(n.value, setup.optimizer)]
    after = [u for u in updates if holder(block[block.index(choice or backward) + 1 :], u) is not None]
    if len(updates) != 1 or not after or after[0].value.args or after[0].value.keywords:  # type: ignore[attr-defined]  # a call
        return "update"
    return _finished(module, setup, owner, (forward, choice or backward, backward, loss, keywords, after[0]), site)


def _finished(
    module: PythonModule,
    setup: Setup,
    owner: ast.AST,
    found: tuple[list[ast.stmt], ast.stmt, ast.stmt, ast.expr, str, ast.stmt],
    site: ast.AST,
) -> Step | str:
    """The step with its clipping, which has to stand where the update does."""
    forward, branch, backward, loss, keywords, update = found
    inner = block_of(owner, update)
    clips = [holder(inner, r) for r in readers(module, block_of(owner, branch), branch, update)]
    if any(clip is None for clip in clips) or not alone(module, update):
        return "clipping"
    masters = [n for n in own(owner) if named(module, n) == MASTER_PARAMS]
    wanted = setup.optimizer.split(".")
    if not all(isinstance(m, ast.Call) and len(m.args) == 1 and dotted(m.args[0]) == wanted for m in masters):
        return "other-use"
    first = min((c for c in clips if c is not None), key=lambda c: module.range_of(c)[0], default=None)
    calls = tuple(m for m in masters if isinstance(m, ast.Call))
    scaled = (site,) if isinstance(site, ast.Call) else ()
    return Step(owner, tuple(forward), backward, loss, keywords, update, first, scaled, calls)


def _with_scaled(module: PythonModule, setup: Setup, site: ast.AST) -> tuple[ast.stmt, ast.expr, str] | str:
    """``with amp.scale_loss(loss, optimizer) as scaled: scaled.backward()``."""
    item = module.parent(site)
    block = module.parent(item) if item is not None else None
    if not isinstance(site, ast.Call) or not isinstance(block, ast.With) or len(block.items) != 1:
        return "form"
    if site.keywords or len(site.args) != len(PAIR) or dotted(site.args[1]) != setup.optimizer.split("."):
        return "losses"
    only = block.body[0].value if len(block.body) == 1 and isinstance(block.body[0], ast.Expr) else None
    bound = block.items[0].optional_vars
    name = dotted(bound)
    if not isinstance(only, ast.Call) or name is None or dotted(only.func) != [*name, "backward"] or only.args:
        return "form"
    owner = next((a for a in module.ancestors(site) if isinstance(a, FUNCTIONS)), module.tree)
    others = [n for n in own(owner) if isinstance(n, ast.Name) and [n.id] == name and n not in (bound, only.func.value)]  # type: ignore[attr-defined]  # a method
    if len(name) != 1 or others or not _is_simple(site.args[0]):
        return "form"
    keywords = ", ".join(f"{k.arg}={source(module, k.value)}" for k in only.keywords)
    return (block, site.args[0], keywords) if all(k.arg and _is_simple(k.value) for k in only.keywords) else "form"


def _through_optimizer(module: PythonModule, setup: Setup, site: ast.AST) -> tuple[ast.stmt, ast.expr, str] | str:
    """``optimizer.backward(loss)``."""
    statement = module.parent(site)
    if not isinstance(site, ast.Call) or not isinstance(statement, ast.Expr) or not alone(module, statement):
        return "form"
    owner = next((a for a in module.ancestors(site) if isinstance(a, FUNCTIONS)), module.tree)
    owners = (module.tree, *(scope for scope in module.table.scopes if isinstance(scope, FUNCTIONS)))
    early = [call for call in halves(owner) if call.lineno < site.lineno]
    if any(call not in early for o in owners if o is owner or o is not setup.owner for call in halves(o)):
        return "form"
    one = len(site.args) == 1 and not site.keywords and _is_simple(site.args[0])
    return (statement, site.args[0], "") if one else "form"


def _is_simple(node: ast.expr) -> bool:
    """Whether an expression calls nothing, so that no other rule has anything to rewrite in it."""
    return not any(isinstance(n, (ast.Call, ast.Lambda, ast.JoinedStr, ast.NamedExpr)) for n in walk(node))


def _is_choice(module: PythonModule, choice: ast.If, setup: Setup, loss: ast.expr, backward: ast.stmt) -> bool:
    """``if flag:`` the scaled backward pass, ``else:`` the plain one."""
    same = setup.flag is not None and ast.dump(choice.test) == ast.dump(setup.flag)
    plain = choice.orelse[0] if len(choice.orelse) == 1 else None
    call = plain.value if isinstance(plain, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    rest = func is not None and func.attr == "backward" and ast.dump(func.value) == ast.dump(loss)
    return same and rest and choice.body == [backward] and alone(module, backward)


def _models(setup: Setup, owner: ast.AST) -> frozenset[str]:
    """The names under which the model runs: its own, and those of wrappers made of it."""
    names = {setup.model} if setup.model else {m for o in (setup.owner, owner) for m, _ in _rooted(o)}
    for node in own(owner):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            target, first = dotted(node.targets[0]), node.value.args[:1]
            if (
                target
                and first
                and ".".join(dotted(first[0]) or []) in names
                and "Parallel" in ast.dump(node.value.func)
            ):
                names.add(".".join(target))
    return frozenset(names)


def _rooted(owner: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """The names that calls of ``.half()`` begin with, through methods: ``model.cuda().half()``."""
    for call in halves(owner):
        node: ast.AST = call
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        if parts := dotted(node):
            yield ".".join(parts), call


def halves(owner: ast.AST) -> list[ast.Call]:
    """The calls of ``.half()`` in a function or module."""
    calls = (n for n in own(owner) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return [c for c in calls if c.func.attr == "half" and not c.args and not c.keywords]  # type: ignore[attr-defined]  # a method


def halved(owner: ast.AST) -> list[tuple[str, ast.stmt]]:
    """``model.half()`` and ``model = model.half()`` as statements of their own, with the name."""
    found: list[tuple[str, ast.stmt]] = []
    calls = halves(owner)
    for node in own(owner):
        if not isinstance(node, (ast.Expr, ast.Assign)) or node.value not in calls:
            continue
        parts = dotted(node.value.func.value)  # type: ignore[attr-defined]  # a call of a method
        same = not isinstance(node, ast.Assign) or [dotted(t) for t in node.targets] == [parts]
        if parts and same:
            found.append((".".join(parts), node))
    return found
