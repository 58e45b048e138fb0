"""Turns ``ast`` expressions into formulas: operators, torch functions under any alias, methods, own submodules."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Callable, Optional

from npu_migrate.names import dotted
from npu_migrate.structure import formula
from npu_migrate.structure.formula import Formula
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Scope

# Functions of one tensor, by the last segment of the name; ``F.softplus`` with its defaults only, and so on.
UNARY = frozenset(["sigmoid", "tanh", "erf", "exp", "softplus", "log", "log1p", "hardsigmoid", "sqrt"])
PLACES = ("torch", "torch.nn.functional", "torch.special", "torch.Tensor")
CONSTANT_PLACES = ("math", "numpy", "torch")
SAME = {
    "expit": "sigmoid",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "subtract": "sub",
    "clip": "clamp",
}
MODULES = {
    "torch.nn.Sigmoid": "sigmoid",
    "torch.nn.Tanh": "tanh",
    "torch.nn.Softplus": "softplus",
    "torch.nn.Hardsigmoid": "hardsigmoid",
    "torch.nn.ReLU6": "relu6",
}
MAX_DEPTH = 3
Function = Callable[[Formula], Optional[Formula]]
Two = Callable[[Formula, Formula], Optional[Formula]]
BINARY: dict[str, Two] = {
    "mul": formula.multiply,
    "add": formula.add,
    "sub": lambda left, right: formula.add(left, formula.scale(right, -1)),
    "div": formula.divide,
    "pow": formula.power,
}
OPERATORS = {ast.Mult: "mul", ast.Add: "add", ast.Sub: "sub", ast.Div: "div", ast.Pow: "pow"}


class Reader:
    """Reads the expressions of one scope. ``given`` are names that stand for formulas already read."""

    def __init__(
        self, module: PythonModule, scope: Scope, submodules: Mapping[str, Function] | None = None, depth: int = 0
    ) -> None:
        self.module = module
        self.scope = scope
        self.submodules = submodules or {}
        self.depth = depth
        self.given: dict[str, Formula] = {}

    def read(self, node: ast.expr) -> Formula | None:
        """The formula of an expression; None where it is not pointwise, not understood, or not free of effects."""
        try:
            return self._read(node)
        except (OverflowError, ZeroDivisionError):
            return None

    def _read(self, node: ast.expr) -> Formula | None:
        if isinstance(node, ast.Constant):
            number = node.value
            return formula.number(number) if isinstance(number, (int, float)) and number is not True else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            inner = self._read(node.operand)
            sign = -1 if isinstance(node.op, ast.USub) else 1
            return None if inner is None else formula.scale(inner, sign)
        if isinstance(node, ast.BinOp):
            name = OPERATORS.get(type(node.op))
            return self._binary(name, node.left, node.right) if name else None
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._operand(node)

    def _operand(self, node: ast.expr) -> Formula | None:
        if isinstance(node, ast.Name) and node.id in self.given:
            return self.given[node.id]
        parts = dotted(node)
        if parts is not None:
            name = self.module.names.meaning(parts, self.scope).name
            if name is not None and name.rpartition(".")[2] in ("pi", "e") and name.split(".")[0] in CONSTANT_PLACES:
                return formula.number({"pi": 3.141592653589793, "e": 2.718281828459045}[name.rpartition(".")[2]])
            constant = self._constant(parts)
            if constant is not None:
                return constant
        return formula.variable(ast.dump(node)) if is_plain(node) else None

    def _constant(self, parts: list[str]) -> Formula | None:
        """The value of a name that the module sets once to a number."""
        if len(parts) != 1 or self.module.names.binding_scope(parts[0], self.scope) is not self.module.table.module:
            return None
        bindings = self.module.table.module.bindings.get(parts[0], [])
        node = bindings[0].node if len(bindings) == 1 and bindings[0].kind == "value" else None
        if isinstance(node, (ast.Constant, ast.BinOp, ast.Call)):
            read = Reader(self.module, self.module.table.module).read(node)
            return read if read is not None and formula.value(read) is not None else None
        return None

    def _binary(self, name: str, left: ast.expr, right: ast.expr) -> Formula | None:
        a, b = self._read(left), self._read(right)
        return None if a is None or b is None else BINARY[name](a, b)

    def _call(self, node: ast.Call) -> Formula | None:
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
        parts = dotted(node.func)
        name = self.module.names.meaning(parts, self.scope).name if parts else None
        if name is not None:
            return self._named(name, node.args, keywords)
        if parts is not None and parts[0] == "self" and parts[-1] in self.submodules:
            inner = self._read(node.args[0]) if len(node.args) == 1 and not keywords else None
            return None if inner is None else self.submodules[parts[-1]](inner)
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, node.args, keywords)
        return self._own_function(node.func, node.args) if not keywords else None

    def _named(self, name: str, args: list[ast.expr], keywords: dict[str, ast.expr]) -> Formula | None:
        place, _, last = name.rpartition(".")
        if place in PLACES and not last.endswith("_"):
            return self._function(SAME.get(last, last), args, keywords)
        return self._function("sqrt", args, keywords) if place in CONSTANT_PLACES and last == "sqrt" else None

    def _own_function(self, func: ast.expr, args: list[ast.expr]) -> Formula | None:
        """A call of a function of this file that is itself one expression, or a few steps, of its parameters."""
        top = self.module.table.module
        name = func.id if isinstance(func, ast.Name) else ""
        bindings = top.bindings.get(name, [])
        node = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(node, ast.FunctionDef) or self.depth >= MAX_DEPTH or node.decorator_list:
            return None
        given = [read for arg in args if (read := self._read(arg)) is not None]
        if self.module.names.binding_scope(name, self.scope) is not top or len(given) < len(args):
            return None
        return Reader(self.module, self.module.table.scopes[node], depth=self.depth + 1).computed(node, given)

    def computed(self, node: ast.FunctionDef | ast.AsyncFunctionDef, given: list[Formula]) -> Formula | None:
        """What a function returns for arguments; None where it depends on anything else."""
        names = [a.arg for a in node.args.args if a.arg != "self"]
        if len(names) != len(given) or node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
            return None
        self.given.update(zip(names, given))
        found = self.result(node.body)
        known = frozenset().union(*map(formula.variables, given))
        return found if found is not None and formula.variables(found) <= known else None

    def result(self, body: list[ast.stmt]) -> Formula | None:
        """What a function returns whose body is assignments to names and one return at the end."""
        statements = [s for s in body if not is_docstring(s)]
        last = statements.pop() if statements else None
        if not isinstance(last, ast.Return) or last.value is None or not all(map(self.step, statements)):
            return None
        return self.read(last.value)

    def step(self, statement: ast.stmt) -> bool:
        """Take in an assignment to a new name; whether it was one that is understood."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        read = self.read(statement.value)
        if not isinstance(target, ast.Name) or target.id in self.given or read is None:
            return False
        self.given[target.id] = read
        return True

    def _method(self, func: ast.Attribute, args: list[ast.expr], keywords: dict[str, ast.expr]) -> Formula | None:
        """A tensor's method; one that works in place only on a value that nothing else can see."""
        name = func.attr
        if name.endswith("_") and not name.endswith("__"):
            if is_plain(func.value):
                return None
            name = name[:-1]
        if name in UNARY or name in SAME or name in BINARY or name in ("clamp", "square", "neg", "reciprocal"):
            return self._function(SAME.get(name, name), [func.value, *args], keywords)
        return None

    def _function(self, name: str, args: list[ast.expr], keywords: dict[str, ast.expr]) -> Formula | None:
        if name in BINARY and len(args) == 2 and not keywords:  # noqa: PLR2004  # two operands
            return self._binary(name, *args)
        bounds = _bounds(name, args, keywords)
        if bounds is not None:
            parts = [self._read(part) for part in bounds]
            return formula.function("clamp", *[p for p in parts if p is not None]) if None not in parts else None
        keywords.pop("inplace", None)
        inner = self._read(args[0]) if len(args) == 1 and not keywords else None
        return None if inner is None else apply(name, inner)


def apply(name: str, inner: Formula) -> Formula | None:
    """A function of one tensor; None where it is not known."""
    if name == "relu6":
        return formula.function("clamp", inner, formula.number(0), formula.number(6))
    if name == "square":
        return formula.multiply(inner, inner)
    if name == "neg":
        return formula.scale(inner, -1)
    if name == "reciprocal":
        return formula.divide(formula.number(1), inner)
    return formula.function(name, inner) if name in UNARY else None


def _bounds(name: str, args: list[ast.expr], keywords: dict[str, ast.expr]) -> list[ast.expr] | None:
    """The tensor and the two limits of a clamp, however they are given."""
    if name not in ("clamp", "hardtanh"):
        return None
    names = ("min", "max") if name == "clamp" else ("min_val", "max_val")
    found = [*args, *(keywords[n] for n in names[max(0, len(args) - 1) :] if n in keywords)]
    extra = keywords.keys() - {*names, "inplace"}
    return found if len(found) == 3 and not extra else None  # noqa: PLR2004  # a tensor and two limits


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is nothing but a text."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_plain(node: ast.expr) -> bool:
    """Whether evaluating an expression twice is evaluating it once: names, attributes, constant subscripts."""
    if isinstance(node, ast.Attribute):
        return is_plain(node.value)
    if isinstance(node, ast.Subscript):
        return is_plain(node.value) and all(
            isinstance(n, (ast.Constant, ast.Slice, ast.Tuple, ast.Name, ast.Load, ast.UnaryOp, ast.USub, ast.Index))
            for n in walk(node.slice)
        )
    return isinstance(node, ast.Name)
