"""What a call is given, as ``ast`` sees it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.values.vocabulary import LOGGERS, TEXTS

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule


TEXT_PARTS = (ast.JoinedStr, ast.FormattedValue, ast.BinOp, ast.IfExp, ast.Attribute)
# What they write may be a program.
WRITERS = frozenset({"write", "writelines", "input", "secho", "echo"})


def argument(call: ast.Call, keyword: str, position: int | None = None) -> ast.expr | None:
    """The value of a parameter by its name or place; None where it is not given, or hidden in ``*`` and ``**``."""
    for one in call.keywords:
        if one.arg == keyword:
            return one.value
    if position is None or position >= len(call.args):
        return None
    before = call.args[: position + 1]
    return None if any(isinstance(one, ast.Starred) for one in before) else before[-1]


def text_of(node: ast.AST | None) -> str | None:
    """The value of a string constant."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def last_name(func: ast.expr) -> str:
    """``run`` of ``subprocess.run`` and of ``make().run``."""
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def name_of(module: PythonModule, node: ast.AST | None) -> str | None:
    """The absolute dotted name of an ``ast`` expression; None where it is not certain."""
    parts = dotted(node)
    if parts is None or node is None:
        return None
    return module.names.meaning(parts, module.scope_at(module.range_of(node)[0])).name


def is_message(module: PythonModule, node: ast.AST) -> bool:
    """Whether a string is (part of) what people read: logged, raised, or shown as help."""
    statement = module.statement_at(module.range_of(node)[0])
    if statement is not None:
        module.index(statement.node)
    below = node
    for above in module.ancestors(node):
        if isinstance(above, ast.keyword):
            return above.arg in TEXTS or (above.arg is not None and _speaks(module.parent(above)))
        if isinstance(above, ast.Call) and above.func is not below:
            return _speaks(above)
        if not isinstance(above, (ast.Call, *TEXT_PARTS)):
            return False
        below = above
    return False


def _speaks(call: ast.AST | None) -> bool:
    name = last_name(call.func) if isinstance(call, ast.Call) else ""
    return name in LOGGERS - WRITERS or name.endswith(("Error", "Exception", "Warning"))


def callers(module: PythonModule, node: ast.AST) -> list[ast.Call]:
    """The calls that an expression is (part of) an argument of, innermost first, within its statement."""
    found = []
    below = node
    for above in module.ancestors(node):
        if isinstance(above, ast.stmt):
            break
        if isinstance(above, ast.Call) and above.func is not below:
            found.append(above)
        below = above
    return found


def text_around(module: PythonModule, node: ast.AST) -> str:
    """The source of the function (outside of one: the outermost statement that is no class) round a node."""
    statement = module.statement_at(module.range_of(node)[0])
    around = statement
    while statement is not None and not isinstance(statement.node, ast.ClassDef):
        around = statement
        if isinstance(statement.node, FUNCTIONS):
            break
        statement = statement.parent
    if around is None:
        return ""
    return module.text[module.line_start(around.first) : module.line_start((around.node.end_lineno or around.last) + 1)]
