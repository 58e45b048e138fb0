"""Finds spatial pyramids: stride-1 max pools of several sizes side by side on one tensor."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.names import dotted
from npu_migrate.structure.calls import MAX_POOL2D, attributes, bound, called, classes_with, is_false, methods, number
from npu_migrate.structure.reader import is_plain
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule

POOL = ("torch.nn.MaxPool2d", "torch.nn.modules.pooling.MaxPool2d")
LISTS = ("torch.nn.ModuleList",)


class Use(NamedTuple):
    """Where the pools are applied: a comprehension, or elements ``first`` to ``last`` of a list.

    ``node`` is the list, or the expression that the comprehension makes for each pool.
    """

    node: ast.expr
    operand: ast.expr
    pools: str
    first: int = 0
    last: int = 0
    backwards: bool = False
    names: tuple[str, ...] = ()


class Pyramid(NamedTuple):
    """A class with such pools; ``made`` is where the first is made, ``sizes`` what says how large they are."""

    owner: ast.ClassDef
    method: str
    made: ast.expr
    sizes: ast.expr | None
    uses: tuple[Use, ...]


def keeps_size(arguments: dict[str, ast.expr] | None, kernel: ast.expr | None) -> bool:
    """Whether a max pool has stride 1 and pads by half its size, with no further option."""
    if arguments is None or kernel is None or number(arguments.get("stride")) != 1:
        return False
    padding = arguments.get("padding")
    size = number(kernel)
    half = number(padding) == size // 2 and size % 2 == 1 if size is not None else _is_half(padding, kernel)
    plain = is_false(arguments.get("ceil_mode")) and is_false(arguments.get("return_indices"))
    return half and plain and number(arguments.get("dilation"), 1) == 1


def _is_half(padding: ast.expr | None, kernel: ast.expr) -> bool:
    """``k // 2`` or ``(k - 1) // 2``."""
    if not isinstance(padding, ast.BinOp) or not isinstance(padding.op, ast.FloorDiv) or number(padding.right) != 2:  # noqa: PLR2004  # half
        return False
    top = padding.left
    if isinstance(top, ast.BinOp) and isinstance(top.op, ast.Sub) and number(top.right) == 1:
        top = top.left
    return ast.dump(top) == ast.dump(kernel)


def find(module: PythonModule) -> list[Pyramid]:
    """The pyramids of a file."""
    return module.fact("pyramids", lambda: list(_find(module)))


def _find(module: PythonModule) -> Iterator[Pyramid]:
    for node in classes_with(module, "MaxPool2d"):
        yield from _of_lists(module, node)
        yield from _of_attributes(module, node)


def _of_lists(module: PythonModule, owner: ast.ClassDef) -> Iterator[Pyramid]:
    """``self.m = nn.ModuleList([nn.MaxPool2d(k, 1, k // 2) for k in sizes])``, applied by a comprehension."""
    for name, value in attributes(owner).items():
        if not isinstance(value, ast.Call) or called(module, value) not in LISTS or len(value.args) != 1:
            continue
        inner = value.args[0]
        if isinstance(inner, (ast.ListComp, ast.GeneratorExp)):
            sizes = inner.generators[0].iter if len(inner.generators) == 1 else None
            fits = sizes is not None and not inner.generators[0].ifs and _is_pool(module, inner.elt)
        else:
            sizes = None
            fits = isinstance(inner, (ast.List, ast.Tuple)) and len(_sizes(module, inner.elts)) > 1
        for method, uses in _comprehensions(owner, name) if fits else ():
            yield Pyramid(owner, method, value, sizes, uses)


def _is_pool(module: PythonModule, node: ast.expr) -> bool:
    arguments = bound(node, MAX_POOL2D) if isinstance(node, ast.Call) and called(module, node) in POOL else None
    return arguments is not None and keeps_size(arguments, arguments.get("kernel_size"))


def _sizes(module: PythonModule, nodes: list[ast.expr]) -> list[int]:
    """The literal sizes of pools; empty where one is something else."""
    found = []
    for node in nodes:
        arguments = bound(node, MAX_POOL2D) if isinstance(node, ast.Call) and _is_pool(module, node) else None
        kernel = arguments["kernel_size"] if arguments is not None else None
        size = number(kernel) if isinstance(kernel, ast.Constant) else None
        if size is None:
            return []
        found.append(size)
    return found


def _comprehensions(owner: ast.ClassDef, name: str) -> Iterator[tuple[str, tuple[Use, ...]]]:
    """``[m(x) for m in self.m]``, by method."""
    for method in methods(owner).values():
        uses = []
        for node in walk(method):
            if not isinstance(node, (ast.ListComp, ast.GeneratorExp)) or len(node.generators) != 1:
                continue
            loop, call = node.generators[0], node.elt
            if dotted(loop.iter) != ["self", name] or loop.ifs or not isinstance(loop.target, ast.Name):
                continue
            if dotted(getattr(call, "func", None)) == [loop.target.id] and isinstance(call, ast.Call):
                operand = call.args[0] if len(call.args) == 1 and not call.keywords else None
                if operand is not None and is_plain(operand):
                    uses.append(Use(call, operand, f"self.{name}"))
        if uses:
            yield method.name, tuple(uses)


def _of_attributes(module: PythonModule, owner: ast.ClassDef) -> Iterator[Pyramid]:
    """``self.pool1(x), self.pool2(x), self.pool3(x)`` as neighbours in a list."""
    made = {name: value for name, value in attributes(owner).items() if _sizes(module, [value])}
    for method in methods(owner).values() if len(made) > 1 else ():
        for node in walk(method):
            use = _run(module, node, made) if isinstance(node, (ast.List, ast.Tuple)) else None
            if use is not None:
                first = min((made[n] for n in made if n in use.names), key=lambda v: v.lineno)
                yield Pyramid(owner, method.name, first, None, (use,))


def _run(module: PythonModule, node: ast.List | ast.Tuple, made: dict[str, ast.expr]) -> Use | None:
    names = [_applied(element, made) for element in node.elts]
    where = [index for index, name in enumerate(names) if name]
    if len(where) < 2 or where[-1] - where[0] != len(where) - 1:  # noqa: PLR2004  # two pools side by side
        return None
    operands = {ast.dump(node.elts[i].args[0]) for i in where}  # type: ignore[attr-defined]  # calls
    pools = [names[i] for i in where]
    sizes = _sizes(module, [made[name] for name in pools])
    backwards = sizes == sorted(sizes, reverse=True)
    if len(operands) != 1 or len(set(sizes)) != len(sizes) or not (backwards or sizes == sorted(sizes)):
        return None
    if backwards:
        pools.reverse()
    operand = node.elts[where[0]].args[0]  # type: ignore[attr-defined]  # a call
    return Use(
        node, operand, f"({', '.join('self.' + n for n in pools)})", where[0], where[-1], backwards, tuple(pools)
    )


def _applied(element: ast.expr, made: dict[str, ast.expr]) -> str:
    """The pool that an element is the output of."""
    if not isinstance(element, ast.Call) or len(element.args) != 1 or element.keywords:
        return ""
    parts = dotted(element.func)
    known = parts is not None and len(parts) == 2 and parts[0] == "self" and parts[1] in made  # noqa: PLR2004  # self.x
    return parts[1] if known and parts is not None and is_plain(element.args[0]) else ""
