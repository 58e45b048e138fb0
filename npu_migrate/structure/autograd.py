"""Finds autograd functions that are an activation with its true derivative, and where they are applied."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.structure import formula
from npu_migrate.structure.activations import SAME, recognise
from npu_migrate.structure.formula import Formula, function, number
from npu_migrate.structure.reader import Reader, is_docstring
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule, Range
    from npu_migrate.engine.statements import Scope

BASES = ("torch.autograd.Function", "torch.autograd.function.Function")


def applied(module: PythonModule) -> dict[Range, str]:
    """Calls ``Fn.apply(x)`` of such functions, by range, with the activation's name."""
    return module.fact("applied activations", lambda: _applied(module))


def _applied(module: PythonModule) -> dict[Range, str]:
    known = {id(n): name for n in module.table.scopes if isinstance(n, ast.ClassDef) and (name := _judge(module, n))}
    found = {}
    for node in walk(module.tree) if known else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "apply":
            owner = _class_of(module, node.func.value)
            if owner is not None and id(owner) in known and len(node.args) == 1 and not node.keywords:
                found[module.range_of(node)] = known[id(owner)]
    return found


def _class_of(module: PythonModule, node: ast.expr) -> ast.AST | None:
    """The class that ``Fn``, ``self.Fn`` or ``Outer.Fn`` names."""
    parts = dotted(node)
    if parts is None:
        return None
    scope = module.scope_at(module.range_of(node)[0])
    if len(parts) == 1:
        return _bound(module.names.binding_scope(parts[0], scope), parts[0])
    if len(parts) != 2:  # noqa: PLR2004  # self.Fn
        return None
    outer = scope.parent.node if parts[0] == "self" and scope.parent else None
    outer = outer or _bound(module.names.binding_scope(parts[0], scope), parts[0])
    return _bound(module.table.scopes.get(outer), parts[1]) if isinstance(outer, ast.ClassDef) else None


def _bound(scope: Scope | None, name: str) -> ast.AST | None:
    bindings = scope.bindings.get(name, []) if scope is not None else []
    return bindings[0].node if len(bindings) == 1 and bindings[0].kind == "class" else None


def _judge(module: PythonModule, node: ast.ClassDef) -> str | None:
    """The activation that a class computes with the right gradient; None where either is something else."""
    scope = module.table.scopes[node]
    bases = [module.names.meaning(parts, scope.parent or scope).name for b in node.bases if (parts := dotted(b))]
    methods = {s.name: s for s in node.body if isinstance(s, FUNCTIONS)}
    forward, backward = methods.get("forward"), methods.get("backward")
    if forward is None or backward is None or not any(b in BASES for b in bases):
        return None
    if len(forward.args.args) != 2 or len(backward.args.args) != 2:  # noqa: PLR2004  # the context and a tensor
        return None
    found = _result(module, forward, formula.variable("x"))
    known = recognise(found) if found is not None else None
    gradient = _result(module, backward, formula.variable("g"))
    if known is None or known[1] > SAME or gradient is None:
        return None
    right = derivative(known[0], formula.variable("x"))
    apart = formula.deviation(gradient, formula.multiply(formula.variable("g"), right)) if right else None
    return known[0] if apart is not None and apart <= SAME else None


def derivative(name: str, x: Formula) -> Formula | None:
    """The derivative of an activation, where people write it out."""
    s = function("sigmoid", x)
    if name == "silu":
        return formula.multiply(s, formula.add(number(1), formula.multiply(x, formula.add(number(1), _minus(s)))))
    if name == "mish":
        t = function("tanh", function("softplus", x))
        slope = formula.multiply(formula.multiply(x, s), formula.add(number(1), _minus(formula.multiply(t, t))))
        return formula.add(t, slope)
    return None


def _minus(x: Formula) -> Formula:
    return formula.scale(x, -1)


def _result(module: PythonModule, method: ast.FunctionDef | ast.AsyncFunctionDef, given: Formula) -> Formula | None:
    """What a method returns; what the context saved is x."""
    context, argument = (a.arg for a in method.args.args)
    reader = Reader(module, module.table.scopes[method])
    reader.given[argument] = given
    body = []
    for statement in method.body:
        if is_docstring(statement) or _saves(statement, context):
            continue
        saved = _saved(statement, context)
        if saved is not None:
            reader.given[saved] = formula.variable("x")
        else:
            body.append(statement)
    return reader.result(body)


def _saves(statement: ast.stmt, context: str) -> bool:
    """``ctx.save_for_backward(x)``."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and dotted(call.func) == [context, "save_for_backward"] and len(call.args) == 1


def _saved(statement: ast.stmt, context: str) -> str | None:
    """The name in ``x = ctx.saved_tensors[0]`` or ``x, = ctx.saved_tensors``."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 1:
        target = target.elts[0]
    elif isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant) and value.slice.value == 0:
        value = value.value
    else:
        return None
    names = ([context, "saved_tensors"], [context, "saved_variables"])
    return target.id if isinstance(target, ast.Name) and dotted(value) in names else None
