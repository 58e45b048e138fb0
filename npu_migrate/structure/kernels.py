"""Finds 5x5 windows: convolutions and stride-1 max pools, and what two 3x3 in their place are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.structure import pools
from npu_migrate.structure.calls import CONV2D, F_MAX_POOL2D, MAX_POOL2D, bound, called, calls_with, is_false, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule, Range

CONV = ("torch.nn.Conv2d", "torch.nn.modules.conv.Conv2d")
FUNCTIONAL = ("torch.nn.functional.max_pool2d", "torch.max_pool2d")
LARGE, SMALL = 5, 3
FIVE = r"(?<![\w.])5(?![\w.])"
HALF = LARGE // 2


class Conv(NamedTuple):
    """A 5x5 convolution and its arguments; ``padding`` is a number of pixels or ``same``."""

    node: ast.Call
    arguments: dict[str, ast.expr]
    stride: int
    padding: int | str
    groups: int


def convolutions(module: PythonModule) -> dict[Range, Conv]:
    """The 5x5 convolutions of a file that two 3x3 could stand for, by range."""
    return module.fact("5x5 convolutions", lambda: {module.range_of(c.node): c for c in _convolutions(module)})


def _convolutions(module: PythonModule) -> Iterator[Conv]:
    for node in calls_with(module, FIVE):
        if called(module, node) not in CONV:
            continue
        arguments = bound(node, CONV2D)
        if arguments is None or number(arguments.get("kernel_size")) != LARGE:
            continue
        padding = arguments.get("padding")
        same = isinstance(padding, ast.Constant) and padding.value == "same"
        pixels = "same" if same else number(padding, 0)
        stride, groups = number(arguments.get("stride"), 1), number(arguments.get("groups"), 1)
        plain = "padding_mode" not in arguments and number(arguments.get("dilation"), 1) == 1
        named = "in_channels" in arguments and "out_channels" in arguments
        if plain and named and stride and groups and pixels is not None:
            yield Conv(node, arguments, stride, pixels, groups)


def parameters(conv: Conv) -> tuple[int, int] | None:
    """Weights and biases of the 5x5 and of two 3x3 with as many channels between them as at the end."""
    into, out = number(conv.arguments["in_channels"]), number(conv.arguments["out_channels"])
    if into is None or out is None:
        return None
    bias = out if not is_false(conv.arguments.get("bias", ast.Constant(value=True))) else 0
    one = into * out // conv.groups * LARGE**2 + bias
    two = (into + out) * out // conv.groups * SMALL**2 + 2 * bias
    return one, two


def pools_5x5(module: PythonModule) -> dict[Range, tuple[ast.Call, ast.expr | None]]:
    """Stride-1 max pools of 5x5 by range, and the tensor of those that are function calls."""
    return module.fact("5x5 pools", lambda: {module.range_of(c): (c, x) for c, x in _pools(module)})


def _pools(module: PythonModule) -> Iterator[tuple[ast.Call, ast.expr | None]]:
    pyramids = [module.range_of(found.owner) for found in pools.find(module)]
    for node in calls_with(module, FIVE):
        name = called(module, node)
        if name not in pools.POOL and name not in FUNCTIONAL:
            continue
        is_layer = name in pools.POOL
        arguments = bound(node, MAX_POOL2D if is_layer else F_MAX_POOL2D)
        kernel = arguments.get("kernel_size") if arguments else None
        inside = any(start <= module.range_of(node)[0] < end for start, end in pyramids)
        if kernel is not None and number(kernel) == LARGE and pools.keeps_size(arguments, kernel) and not inside:
            yield node, None if is_layer or arguments is None else arguments.get("input")
