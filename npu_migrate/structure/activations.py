"""Finds hand-written activation functions: SiLU, Hardswish, Mish, GELU, in any spelling."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple, Union

from npu_migrate.engine.imports import torch_imports
from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.structure import formula
from npu_migrate.structure.formula import Formula, function, number
from npu_migrate.structure.reader import MODULES, OPERATORS, Function, Reader, apply, is_docstring, is_plain
from npu_migrate.trees import children, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule, Range
    from npu_migrate.engine.statements import Scope

# Constants may differ by the rounding of float64; by more, and it is a rounded constant, which is another function.
SAME = 1e-12
ROUNDED = 1e-4
Def = Union[ast.FunctionDef, ast.AsyncFunctionDef]
# Every spelling of an activation has one of these in it, or its class has.
PARTS = re.compile(r"sigmoid|tanh|relu6|softplus|clamp|erf\(|exp\(", re.IGNORECASE)
IN_PLACE = ("silu", "hardswish", "mish")


class Activation(NamedTuple):
    """A place that computes an activation, and the ``torch.nn.functional`` name of it.

    ``operand`` is the expression it is a function of; ``spent`` are the statements that only served it; ``scripted``
    tells that TorchScript compiles the function it is in.
    """

    name: str
    node: ast.expr
    operand: ast.expr
    in_place: bool = False
    deviation: float = 0.0
    spent: tuple[ast.stmt, ...] = ()
    scripted: bool = False


def functions(x: Formula) -> dict[str, Formula]:
    """The known activations of ``x``."""
    half = formula.scale(x, 0.5)
    cube = formula.multiply(x, formula.multiply(x, x))
    erf = function("erf", formula.scale(x, 0.5**0.5))
    inner = formula.scale(formula.add(x, formula.scale(cube, 0.044715)), (2 / 3.141592653589793) ** 0.5)
    clamped = function("clamp", formula.add(x, number(3)), number(0), number(6))
    return {
        "silu": formula.multiply(x, function("sigmoid", x)),
        "hardswish": formula.scale(formula.multiply(x, clamped), 1 / 6),
        "mish": formula.multiply(x, function("tanh", function("softplus", x))),
        "gelu": formula.multiply(half, formula.add(number(1), erf)),
        "gelu_tanh": formula.multiply(half, formula.add(number(1), function("tanh", inner))),
    }


def recognise(found: Formula) -> tuple[str, float] | None:
    """Which activation a formula is, and how far its constants are from the exact ones."""
    names = formula.variables(found)
    if len(names) != 1:
        return None
    for name, known in functions(formula.variable(next(iter(names)))).items():
        apart = formula.deviation(found, known)
        if apart is not None and apart < ROUNDED:
            return name, apart
    return None


def find(module: PythonModule) -> dict[Range, Activation]:
    """All activations of a file by the range of their expression."""
    return module.fact("activations", lambda: {module.range_of(a.node): a for a in _find(module)})


def _find(module: PythonModule) -> Iterator[Activation]:
    if not torch_imports(module):
        return
    stack: list[tuple[ast.AST, bool]] = [(node, False) for node in module.tree.body if _is_wanted(module, node)]
    while stack:
        node, scripted = stack.pop()
        scripted = scripted or (isinstance(node, FUNCTIONS) and _is_scripted(module, node))
        found = _by_steps(module, node) if isinstance(node, FUNCTIONS) else _activation(module, node)
        if found is not None:
            yield found._replace(scripted=scripted)
        elif not isinstance(node, ast.JoinedStr):
            stack.extend((child, scripted) for child in children(node) if _is_wanted(module, child))


def _is_scripted(module: PythonModule, node: Def) -> bool:
    scope = module.table.scopes[node].parent or module.table.module
    names = [module.names.meaning(parts, scope).name for d in node.decorator_list if (parts := dotted(d))]
    return any(name is not None and name.startswith("torch.jit.script") for name in names)


def _is_wanted(module: PythonModule, node: ast.AST) -> bool:
    """Whether what activations are made of may stand in a node; asked of statements, of which most name nothing."""
    return not isinstance(node, ast.stmt) or PARTS.search(module.text, *module.range_of(node)) is not None


def _activation(module: PythonModule, node: ast.AST) -> Activation | None:
    """An expression that is an activation by itself."""
    in_place = False
    if isinstance(node, ast.Call):
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr.rstrip("_") not in ("mul", "div", "multiply"):
            return None
        in_place = func.attr.endswith("_") and is_plain(func.value)
        node = _as_product(node, func) if in_place else node
    elif not isinstance(node, ast.BinOp) or type(node.op) not in OPERATORS:
        return None
    reader = reader_at(module, node)
    return _judge(reader.read(node), node, in_place=in_place)


def _as_product(node: ast.Call, func: ast.Attribute) -> ast.expr:
    """``x.mul_(y)`` as ``x.mul(y)``, in the same place."""
    method = ast.copy_location(ast.Attribute(func.value, func.attr.rstrip("_"), ast.Load()), func)
    return ast.copy_location(ast.Call(method, node.args, node.keywords), node)


def _judge(found: Formula | None, node: ast.expr, *, in_place: bool = False) -> Activation | None:
    known = recognise(found) if found is not None else None
    if known is None or (in_place and known[0] not in IN_PLACE):
        return None
    key = next(iter(formula.variables(found or ())))
    operand = next((n for n in walk(node) if isinstance(n, ast.expr) and ast.dump(n) == key), None)
    return None if operand is None else Activation(known[0], node, operand, in_place, known[1])


def _by_steps(module: PythonModule, node: Def) -> Activation | None:
    """A function that computes an activation of one of its parameters in several assignments."""
    body = [s for s in node.body if not is_docstring(s)]
    steps, last = body[:-1], body[-1] if body else None
    if not steps or not isinstance(last, ast.Return) or last.value is None:
        return None
    reader = reader_at(module, last.value)
    parameters = {a.arg for a in node.args.args}
    if not all(reader.step(step) for step in steps) or parameters & reader.given.keys():
        return None
    found = reader.read(last.value)
    known = recognise(found) if found is not None else None
    if known is None:
        return None
    key = next(iter(formula.variables(found or ())))
    operand = next((n for s in body for n in walk(s) if isinstance(n, ast.Name) and ast.dump(n) == key), None)
    if operand is None or operand.id not in parameters:
        return None
    return Activation(known[0], last.value, operand, deviation=known[1], spent=tuple(steps))


def reader_at(module: PythonModule, node: ast.expr) -> Reader:
    """A reader that knows the names, and the submodules, at an expression."""
    scope = module.scope_at(module.range_of(node)[0])
    submodules = module.fact(f"submodules of {id(scope.parent)}", lambda: _submodules(module, scope))
    return Reader(module, scope, submodules)


def _submodules(module: PythonModule, scope: Scope, *, own_classes: bool = True) -> dict[str, Function]:
    """What ``self.x`` computes, for the pointwise modules that a class makes once in its methods."""
    owner = scope.parent.node if scope.parent is not None else None
    if not isinstance(owner, ast.ClassDef):
        return {}
    made: dict[str, list[ast.expr]] = {}
    for node in walk(owner):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            parts = dotted(node.targets[0])
            if parts is not None and len(parts) == 2 and parts[0] == "self":  # noqa: PLR2004  # self.x
                made.setdefault(parts[1], []).append(node.value)
    found = {}
    for name, values in made.items():
        computes = _computes(module, scope, values[0], own_classes=own_classes) if len(values) == 1 else None
        if computes is not None:
            found[name] = computes
    return found


def _computes(module: PythonModule, scope: Scope, value: ast.expr, *, own_classes: bool) -> Function | None:
    parts = dotted(value.func) if isinstance(value, ast.Call) else None
    if parts is None or not isinstance(value, ast.Call):
        return None
    meaning = module.names.meaning(parts, scope)
    plain = not value.args and all(k.arg == "inplace" for k in value.keywords)
    if meaning.name is not None:
        known = MODULES.get(meaning.name.replace("torch.nn.modules.activation", "torch.nn"))
        return (lambda inner: apply(known, inner)) if known and (plain or known == "relu6") else None
    return _own_class(module, parts[0]) if own_classes and len(parts) == 1 else None


def _own_class(module: PythonModule, name: str) -> Function | None:
    """What a module class of this file computes, where its forward is one pointwise expression of its argument."""
    bindings = module.table.module.bindings.get(name, [])
    node = bindings[0].node if len(bindings) == 1 else None
    forwards = [s for s in getattr(node, "body", []) if isinstance(s, FUNCTIONS) and s.name == "forward"]
    if not isinstance(node, ast.ClassDef) or len(forwards) != 1:
        return None
    forward = forwards[0]
    scope = module.table.scopes[forward]

    def computes(inner: Formula) -> Formula | None:
        reader = Reader(module, scope, _submodules(module, scope, own_classes=False))
        return reader.computed(forward, [inner])

    return computes
