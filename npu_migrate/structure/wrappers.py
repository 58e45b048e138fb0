"""Follows a convolution through the class of the program that wraps it (YOLO's ``Conv``) to its arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.names import dotted
from npu_migrate.structure.calls import CONV2D, attributes, bound, called, methods, number
from npu_migrate.structure.kernels import CONV
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule

SEQUENTIAL = ("torch.nn.Sequential",)


class Convolution(NamedTuple):
    """The call that makes a convolution over four times the channels, and what its arguments become.

    ``path`` leads from the attribute to the ``nn.Conv2d`` itself; ``parameters`` are the call's by position;
    ``values`` are the new texts by parameter.
    """

    call: ast.Call
    path: str
    parameters: tuple[str, ...]
    values: dict[str, str]


def convolution_of(module: PythonModule, owner: ast.ClassDef, made: ast.expr) -> Convolution | None:
    """The convolution that comes first in a module expression, with doubled window, stride and padding."""
    if not isinstance(made, ast.Call):
        return None
    name = called(module, made)
    if name in SEQUENTIAL and made.args and isinstance(made.args[0], ast.Call):
        inner = convolution_of(module, owner, made.args[0])
        return inner._replace(path=f".0{inner.path}") if inner is not None else None
    if name in CONV:
        arguments = bound(made, CONV2D)
        values = _doubled(owner, arguments, arguments, {}) if arguments is not None else None
        return Convolution(made, "", CONV2D, values) if values is not None else None
    return _wrapped(module, owner, made)


def _wrapped(module: PythonModule, owner: ast.ClassDef, made: ast.Call) -> Convolution | None:
    parts = dotted(made.func)
    bindings = module.table.module.bindings.get(parts[0], []) if parts and len(parts) == 1 else []
    wrapper = bindings[0].node if len(bindings) == 1 else None
    init = methods(wrapper).get("__init__") if isinstance(wrapper, ast.ClassDef) else None
    if not isinstance(wrapper, ast.ClassDef) or init is None or init.args.vararg or init.args.kwarg:
        return None
    inner = {n: v for n, v in attributes(wrapper).items() if isinstance(v, ast.Call) and called(module, v) in CONV}
    names = tuple(a.arg for a in init.args.args[1:])
    given = bound(made, names)
    if len(inner) != 1 or given is None:
        return None
    (name, conv), *_ = inner.items()
    arguments = bound(conv, CONV2D) if isinstance(conv, ast.Call) else None
    if arguments is None:
        return None
    defaults = dict(zip(names[len(names) - len(init.args.defaults) :], init.args.defaults))
    roles = {role: _through(value, given, defaults) for role, value in arguments.items()}
    if "padding" in arguments:
        roles["padding"] = _padding(module, init, arguments["padding"], given, defaults)
    values = _doubled(owner, roles, arguments, {**defaults, **given})
    return Convolution(made, f".{name}", names, values) if values is not None else None


def _through(value: ast.expr, given: dict[str, ast.expr], defaults: dict[str, ast.expr]) -> ast.expr | None:
    """What an argument inside the wrapper is outside it."""
    if isinstance(value, ast.Name):
        return given.get(value.id) or defaults.get(value.id)
    return value if isinstance(value, ast.Constant) else None


class _Exchange(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def _padding(
    module: PythonModule,
    init: ast.FunctionDef,
    value: ast.expr,
    given: dict[str, ast.expr],
    defaults: dict[str, ast.expr],
) -> ast.expr | None:
    """The padding inside the wrapper, in terms of what it is called with."""
    if isinstance(value, ast.Name) and value.id not in {a.arg for a in init.args.args}:
        steps = [s.value for s in init.body if isinstance(s, ast.Assign) and dotted(s.targets[0]) == [value.id]]
        value = steps[0] if len(steps) == 1 else value
    if isinstance(value, ast.Call) and not _keeps_a_given_padding(module, value):
        return None
    known = {**defaults, **given}
    parameter = _padding_parameter(value)
    if isinstance(value, ast.IfExp):
        if parameter is None:
            return None
        missing = isinstance(known.get(parameter), ast.Constant)
        value = value.body if missing and number(known[parameter]) is None else value
    exchanged: ast.expr = _Exchange(known).visit(ast.parse(ast.unparse(value), mode="eval").body)
    return exchanged


def _padding_parameter(value: ast.expr) -> str | None:
    """The parameter through which a wrapper takes the padding as it is, if it is given."""
    if isinstance(value, ast.Call):
        value = value.args[1] if len(value.args) > 1 else value
    elif isinstance(value, ast.IfExp):
        kept = ast.unparse(value.orelse)
        value = value.orelse if ast.unparse(value.test) == f"{kept} is None" else value
    return value.id if isinstance(value, ast.Name) else None


def _keeps_a_given_padding(module: PythonModule, call: ast.Call) -> bool:
    """Whether a function such as ``autopad(k, p)`` returns its second argument unless that is None."""
    parts = dotted(call.func)
    bindings = module.table.module.bindings.get(parts[0], []) if parts and len(parts) == 1 else []
    node = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) < 2:  # noqa: PLR2004  # kernel and padding
        return False
    padding = node.args.args[1].arg
    last = node.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return False
    kept = last.value.orelse if isinstance(last.value, ast.IfExp) else last.value
    tests = [t for n in walk(node) if isinstance(n, (ast.If, ast.IfExp)) for t in [ast.unparse(n.test)]]
    return dotted(kept) == [padding] and f"{padding} is None" in tests


def _doubled(
    owner: ast.ClassDef,
    roles: dict[str, ast.expr | None] | dict[str, ast.expr],
    inside: dict[str, ast.expr],
    outside: dict[str, ast.expr],
) -> dict[str, str] | None:
    """The new texts of the arguments that change; None where one is not understood."""
    channels = _quarter(roles.get("in_channels"))
    kernel, stride = roles.get("kernel_size"), roles.get("stride", ast.Constant(1))
    padding = roles.get("padding", ast.Constant(0))
    plain = all(_is_one(owner, roles.get(role, ast.Constant(1))) for role in ("groups", "dilation"))
    if channels is None or kernel is None or stride is None or padding is None or not plain:
        return None
    if "padding_mode" in roles:
        return None
    follows = bool(outside) and _follows(padding, kernel)
    if not all(map(_is_size, (kernel, stride, padding))) or (follows and (number(kernel) or 1) % 2 == 0):
        return None
    values = {"in_channels": channels, "kernel_size": _twice(kernel), "stride": _twice(stride)}
    if not follows:
        values["padding"] = _twice(padding)
    return _renamed(values, inside, outside)


def _is_size(node: ast.expr) -> bool:
    """Whether an argument can be one number; a pair of two, or ``same``, cannot be doubled."""
    return number(node) is not None or isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.IfExp))


def _renamed(
    values: dict[str, str], inside: dict[str, ast.expr], outside: dict[str, ast.expr]
) -> dict[str, str] | None:
    """By the parameters of the wrapper; None where one cannot be told from outside."""
    if not outside:
        return values
    found = {}
    for role, text in values.items():
        value = inside.get(role)
        name = _padding_parameter(value) if role == "padding" and value is not None else None
        name = name or (value.id if isinstance(value, ast.Name) else None)
        if name is None or name not in outside:
            return None
        found[name] = text
    return found


def _quarter(node: ast.expr | None) -> str | None:
    """``c`` for ``c * 4`` or ``4 * c``; a quarter of a number."""
    size = number(node)
    if size is not None:
        return str(size // 4) if size % 4 == 0 else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if number(other) == 4:  # noqa: PLR2004  # the four halves
                return ast.unparse(one)
    return None


def _twice(node: ast.expr) -> str:
    size = number(node)
    if size is not None:
        return str(2 * size)
    text = ast.unparse(node)
    return f"2 * {text}" if isinstance(node, (ast.Name, ast.Attribute, ast.Call)) else f"2 * ({text})"


def _follows(padding: ast.expr, kernel: ast.expr) -> bool:
    """Whether a padding is ``(k - 1) // 2``: right for the doubled window as it stands."""
    half = ast.BinOp(ast.BinOp(kernel, ast.Sub(), ast.Constant(1)), ast.FloorDiv(), ast.Constant(2))
    return ast.unparse(padding) == ast.unparse(half)


def _is_one(owner: ast.ClassDef, node: ast.expr | None) -> bool:
    """Whether an argument is 1, or a parameter of the class that is 1 unless somebody says otherwise."""
    if number(node) == 1:
        return True
    init = methods(owner).get("__init__")
    if init is None or not isinstance(node, ast.Name):
        return False
    names = [a.arg for a in init.args.args]
    defaults = dict(zip(names[len(names) - len(init.args.defaults) :], init.args.defaults))
    return number(defaults.get(node.id)) == 1
