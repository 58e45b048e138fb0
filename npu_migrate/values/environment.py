"""Whether a string names an environment variable: a key of ``os.environ``, of a copy of it, or of what becomes one."""

from __future__ import annotations

import ast
import re
from enum import Enum
from typing import TYPE_CHECKING

from npu_migrate.names import dotted
from npu_migrate.trees import walk
from npu_migrate.values.vocabulary import LOGGERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule

# What programs call a mapping of variables, and functions that take a variable's name.
MAPPING = re.compile(r"(^|_)(env|environ|envs|env_vars|environment)$")
FUNCTIONS = frozenset(["getenv", "putenv", "unsetenv", "setenv", "delenv", "get_env", "set_env", "env_var"])
METHODS = frozenset(["get", "pop", "setdefault", "__contains__", "__getitem__", "__setitem__"])
SETTERS = frozenset(["setdefault", "putenv", "setenv", "__setitem__"])
MERGERS = frozenset(["update", "dict", "patch.dict", "mock.patch.dict", "unittest.mock.patch.dict"])
_DEPTH = 4


class Place(Enum):
    """What a string with a variable's name is doing."""

    VARIABLE = "variable"
    KEY = "key"
    TEXT = "text"
    UNKNOWN = "unknown"


class Environment:
    """Judges the strings of one module."""

    def __init__(self, module: PythonModule) -> None:
        self.module = module

    def place(self, node: ast.AST, depth: int = _DEPTH) -> Place:
        """What a string is to what stands above it; names it is assigned to are followed to their uses."""
        above = self.module.parent(node)
        if depth == 0 or above is None:
            return Place.UNKNOWN
        if isinstance(above, (ast.Subscript, ast.Compare)):
            mapping = above.value if isinstance(above, ast.Subscript) else above.comparators[0]
            return Place.VARIABLE if self.is_mapping(mapping) else Place.KEY
        if isinstance(above, ast.Call):
            return self._argument(node, above)
        if isinstance(above, ast.Dict):
            return Place.VARIABLE if node in above.keys and self.becomes_mapping(above) else Place.KEY
        if isinstance(above, (ast.List, ast.Tuple, ast.Set, ast.IfExp, ast.BoolOp)):
            return self.place(above, depth)
        return self._uses(above, depth)

    def _argument(self, node: ast.AST, call: ast.Call) -> Place:
        name = (dotted(call.func) or [getattr(call.func, "attr", "")])[-1]
        first = bool(call.args) and call.args[0] is node
        if name in LOGGERS or name.endswith(("Error", "Exception", "Warning")):
            return Place.TEXT
        if first and name in FUNCTIONS:
            return Place.VARIABLE
        if first and name in METHODS and isinstance(call.func, ast.Attribute):
            return Place.VARIABLE if self.is_mapping(call.func.value) else Place.KEY
        return Place.UNKNOWN

    def _uses(self, above: ast.AST, depth: int) -> Place:
        """A constant or a loop variable is what every use of it is."""
        target = None
        if isinstance(above, (ast.For, ast.comprehension)):
            target = above.target
        elif isinstance(above, ast.Assign) and len(above.targets) == 1:
            target = above.targets[0]
        if not isinstance(target, ast.Name):
            return Place.UNKNOWN
        self.module.index(self.module.tree)
        places = {self.place(use, depth - 1) for use in _loads(self.module.tree, target.id)}
        return places.pop() if len(places) == 1 else Place.UNKNOWN

    def value(self, node: ast.AST) -> str | None:
        """The constant that a variable is set to, where its name is ``node``."""
        above = self.module.parent(node)
        if isinstance(above, ast.Subscript):
            assigned = self.module.parent(above)
            return constant(assigned.value) if isinstance(assigned, ast.Assign) else None
        if isinstance(above, ast.Call):
            sets = getattr(above.func, "attr", "") in SETTERS
            return constant(above.args[1]) if sets and len(above.args) > 1 else None
        if isinstance(above, ast.Dict):
            return next((constant(value) for key, value in zip(above.keys, above.values) if key is node), None)
        return None

    def is_mapping(self, node: ast.AST) -> bool:
        """Whether an expression is ``os.environ``, a copy of it, or is called like one."""
        if isinstance(node, ast.Call):
            return (
                isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and self.is_mapping(node.func.value)
            )
        parts = dotted(node)
        if parts is None:
            return False
        meaning = self.module.names.meaning(parts, self.module.scope_at(self.module.range_of(node)[0]))
        return meaning.name == "os.environ" or MAPPING.search(parts[-1].lower()) is not None

    def becomes_mapping(self, node: ast.AST) -> bool:
        """Whether a dictionary (or a call that makes or changes one) ends up in the environment of a process."""
        if isinstance(node, ast.Dict) and any(
            key is None and self.is_mapping(value) for key, value in zip(node.keys, node.values)
        ):
            return True
        above = self.module.parent(node)
        if isinstance(above, ast.Call):
            return self.merges(above)
        if isinstance(above, ast.keyword):
            return MAPPING.search(above.arg or "") is not None
        if isinstance(above, (ast.Assign, ast.AnnAssign)):
            targets = above.targets if isinstance(above, ast.Assign) else [above.target]
            return any(self.is_mapping(target) for target in targets if not isinstance(target, ast.Tuple))
        if isinstance(above, ast.Dict):
            keys = [key for key, value in zip(above.keys, above.values) if value is node]
            return any(isinstance(key, ast.Constant) and MAPPING.search(str(key.value)) for key in keys)
        return False

    def merges(self, call: ast.Call) -> bool:
        """``os.environ.update(...)``, ``dict(os.environ, ...)``, ``patch.dict(os.environ, ...)``."""
        name = ".".join(dotted(call.func) or [])
        if name.rpartition(".")[2] == "update" and isinstance(call.func, ast.Attribute):
            return self.is_mapping(call.func.value)
        first = call.args[0] if call.args else None
        patched = isinstance(first, ast.Constant) and first.value == "os.environ"
        return name in MERGERS and first is not None and (patched or self.is_mapping(first))


def constant(node: ast.AST | None) -> str | None:
    """The text of a string literal."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _loads(tree: ast.AST, name: str) -> Iterator[ast.Name]:
    for node in walk(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node
