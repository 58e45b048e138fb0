"""Calls of layers: what they are called with, and which layer a name stands for."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.names import dotted
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Statement

CONV2D = (
    "in_channels",
    "out_channels",
    "kernel_size",
    "stride",
    "padding",
    "dilation",
    "groups",
    "bias",
    "padding_mode",
    "device",
    "dtype",
)
MAX_POOL2D = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")
F_MAX_POOL2D = ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")


def called(module: PythonModule, node: ast.AST) -> str | None:
    """The absolute name of what a call calls; None where it is not certain."""
    parts = dotted(node.func) if isinstance(node, ast.Call) else None
    if parts is None:
        return None
    return module.names.meaning(parts, module.scope_at(module.range_of(node)[0])).name


def statements_with(module: PythonModule, pattern: str) -> Iterator[Statement]:
    """The innermost statements in whose text a pattern stands: only there is a walk worth its time."""
    seen = set()
    for match in re.finditer(pattern, module.text):
        statement = module.statement_at(match.start())
        if statement is not None and statement.index not in seen:
            seen.add(statement.index)
            yield statement


def calls_with(module: PythonModule, pattern: str) -> Iterator[ast.Call]:
    """The calls in such statements; those in headers of functions, classes and loops make no layer."""
    for statement in statements_with(module, pattern):
        if statement.shape != "head":
            yield from (node for node in walk(statement.node) if isinstance(node, ast.Call))


def classes_with(module: PythonModule, pattern: str) -> Iterator[ast.ClassDef]:
    """The classes round such statements, each once."""
    seen = set()
    for statement in statements_with(module, pattern):
        current: Statement | None = statement
        while current is not None:
            node = current.node
            if isinstance(node, ast.ClassDef) and node not in seen:
                seen.add(node)
                yield node
            current = current.parent


def bound(call: ast.Call, names: Sequence[str]) -> dict[str, ast.expr] | None:
    """The arguments by parameter; None where ``*`` or ``**``, or an unknown keyword, hides them."""
    if any(isinstance(a, ast.Starred) for a in call.args) or len(call.args) > len(names):
        return None
    found = dict(zip(names, call.args))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in names:
            return None
        found[keyword.arg] = keyword.value
    return found


def number(node: ast.expr | None, default: int | None = None) -> int | None:
    """A literal whole number, or a pair of equal ones; ``default`` where there is no argument."""
    if node is None:
        return default
    if isinstance(node, (ast.Tuple, ast.List)) and node.elts:
        values = {number(e) for e in node.elts}
        return values.pop() if len(values) == 1 else None
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        return node.value
    return None


def is_false(node: ast.expr | None) -> bool:
    """Whether an argument is left out or literally ``False``."""
    return node is None or (isinstance(node, ast.Constant) and node.value is False)


def methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """The methods of a class by name."""
    return {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}


def attributes(node: ast.ClassDef) -> dict[str, ast.expr]:
    """What ``self.x`` is assigned in the methods of a class; None of those assigned more than once."""
    found: dict[str, list[ast.expr]] = {}
    for statement in walk(node):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            parts = dotted(statement.targets[0])
            if parts is not None and len(parts) == 2 and parts[0] == "self":  # noqa: PLR2004  # self.x
                found.setdefault(parts[1], []).append(statement.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}
