"""Finds space-to-depth followed by a convolution (YOLO's Focus), whatever it is called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.names import dotted
from npu_migrate.structure.calls import attributes, bound, called, classes_with, methods, number
from npu_migrate.structure.wrappers import Convolution, convolution_of
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule

CAT = ("torch.cat", "torch.concat", "torch.concatenate")
Corner = tuple[int, int]
CORNERS = frozenset([(0, 0), (0, 1), (1, 0), (1, 1)])


class Focus(NamedTuple):
    """A class that joins the four halves of its input's pixels as channels and convolves them.

    ``order`` is the row and column each quarter of the channels comes from; ``spent`` are statements that only
    prepare the joined tensor. ``convolution`` is None where what follows cannot be rewritten, or nothing follows.
    """

    owner: ast.ClassDef
    joined: ast.Call
    source: ast.Name
    order: tuple[Corner, ...]
    attribute: str = ""
    convolution: Convolution | None = None
    spent: tuple[ast.stmt, ...] = ()


def find(module: PythonModule) -> list[Focus]:
    """The classes of this kind in a file."""
    return module.fact("focus", lambda: list(_find(module)))


def _find(module: PythonModule) -> Iterator[Focus]:
    for node in classes_with(module, "::2"):
        forward = methods(node).get("forward")
        if forward is None:
            continue
        halves = _halves(forward)
        for call in walk(forward):
            if isinstance(call, ast.Call) and called(module, call) in CAT:
                order = _order(call, halves)
                if order is not None:
                    yield _judge(module, node, forward, Focus(node, call, order[1], order[0]))


def _halves(forward: ast.FunctionDef) -> dict[str, tuple[Corner, ast.Name, ast.stmt]]:
    """Names that stand for one of the four: ``top_left = x[..., ::2, ::2]``."""
    found: dict[str, tuple[Corner, ast.Name, ast.stmt]] = {}
    for statement in forward.body:
        pairs = [(name, _half(value)) for name, value in _assigned(statement)]
        if all(half is not None for _, half in pairs):  # what is assigned beside them would go with them
            found.update({name: (*half, statement) for name, half in pairs if half is not None})
    return found


def _assigned(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """``a = x`` and ``a, b = x, y`` as names and values; nothing for other targets."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return []
    names = [one.id for one in target.elts if isinstance(one, ast.Name)]
    return list(zip(names, value.elts)) if len(names) == len(target.elts) else []


def _half(node: ast.expr) -> tuple[Corner, ast.Name] | None:
    """The row and column that ``x[..., 1::2, ::2]`` starts at, and ``x``."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    front = parts[:-2]
    everything = all(isinstance(p, ast.Slice) and not (p.lower or p.upper or p.step) for p in front)
    dots = len(front) == 1 and isinstance(front[0], ast.Constant) and front[0].value is Ellipsis
    if not dots and not (everything and len(front) == 2):  # noqa: PLR2004  # batch and channels
        return None
    starts = [_start(part) for part in parts[-2:]]
    if None in starts:
        return None
    return (starts[0] or 0, starts[1] or 0), node.value


def _start(part: ast.expr) -> int | None:
    if not isinstance(part, ast.Slice) or part.upper is not None or number(part.step) != 2:  # noqa: PLR2004  # every other
        return None
    start = number(part.lower, 0)
    return start if start in (0, 1) else None


def _order(
    call: ast.Call, halves: dict[str, tuple[Corner, ast.Name, ast.stmt]]
) -> tuple[tuple[Corner, ...], ast.Name] | None:
    """The corners in the order in which a call joins them along the channels, and the tensor they come from."""
    arguments = bound(call, ("tensors", "dim", "axis")) or {}
    parts = arguments.get("tensors")
    dim = arguments.get("dim") or arguments.get("axis")
    if not isinstance(parts, (ast.List, ast.Tuple)) or number(dim, 0) != 1:
        return None
    found = []
    for part in parts.elts:
        half = halves[part.id][:2] if isinstance(part, ast.Name) and part.id in halves else _half(part)
        if half is None:
            return None
        found.append(half)
    same = len({source.id for _, source in found}) == 1
    order = tuple(corner for corner, _ in found)
    return (order, found[0][1]) if same and len(order) == len(CORNERS) and set(order) == CORNERS else None


def _judge(module: PythonModule, owner: ast.ClassDef, forward: ast.FunctionDef, found: Focus) -> Focus:
    """Add the convolution that the joined tensor goes into, and what goes with the joining."""
    attribute, spent = _goes_to(forward, found.joined, found.source)
    made = attributes(owner).get(attribute)
    if made is None or "_load_from_state_dict" in methods(owner):
        return found._replace(attribute=attribute)
    halves = _halves(forward)
    names = [p.id for p in walk(found.joined) if isinstance(p, ast.Name) and p.id in halves]
    uses = [n.id for n in walk(forward) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    steps = [halves[name][2] for name in names]
    beside = [name for name, (_, _, step) in halves.items() if step in steps and name not in names]
    if beside or any(uses.count(name) > 1 for name in names):
        return found._replace(attribute=attribute)
    convolution = convolution_of(module, owner, made)
    return found._replace(attribute=attribute, convolution=convolution, spent=(*steps, *spent))


def _goes_to(forward: ast.FunctionDef, joined: ast.Call, source: ast.Name) -> tuple[str, list[ast.stmt]]:
    """The attribute in ``self.conv(torch.cat(...))``, or in ``x = torch.cat(...)`` and ``return self.conv(x)``."""
    names = {id(joined)}
    spent: list[ast.stmt] = []
    for statement, following in zip(forward.body, forward.body[1:]):
        if isinstance(statement, ast.Assign) and statement.value is joined:
            target = statement.targets[0]
            value = following.value if isinstance(following, ast.Return) else None
            argument = value.args[0] if isinstance(value, ast.Call) and len(value.args) == 1 else None
            if isinstance(target, ast.Name) and isinstance(argument, ast.Name) and argument.id == target.id:
                names.add(id(argument))
                spent = [statement] if target.id == source.id else []
    for node in walk(forward):
        if isinstance(node, ast.Call) and len(node.args) == 1 and id(node.args[0]) in names and not node.keywords:
            parts = dotted(node.func)
            if parts is not None and len(parts) == 2 and parts[0] == "self":  # noqa: PLR2004  # self.conv
                return parts[1], spent
    return "", []
