"""Runs the rules that only report: over ``ast``, in the statements that hold a name they look for.

LibCST takes no part in it, so that a rule about common functions costs next to nothing.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate import packs
from npu_migrate.literals import words
from npu_migrate.trees import children
from npu_migrate.values.arguments import last_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Statement
    from npu_migrate.engine.work import Work
    from npu_migrate.inspector import Inspector
    from npu_migrate.packs import RuleInfo
    from npu_migrate.target import Target

_NAME = re.compile(rb"[^\W\d]\w*\(?")


class Inspectors:
    """The inspectors of a run, and the names that each of them looks for."""

    def __init__(self, infos: Iterable[RuleInfo], target: Target | None) -> None:
        self.infos = tuple(infos) if target is not None else ()
        self._target = target
        self._classes: dict[str, type[Inspector]] = {}
        self._tokens: dict[tuple[str, bool], frozenset[bytes]] = {}
        self._opening: frozenset[bytes] | None = None

    def concern(self, data: bytes) -> bool:
        """Whether a file is worth a look for their sake alone: by a keyword and a name, told from undecoded bytes."""
        if self._opening is None:
            self._opening = frozenset().union(*(self._wanted(info, opening=True) for info in self.infos))
        keyword = any(word.encode() in data for info in self.infos for word in info.keywords)
        return keyword and not self._opening.isdisjoint(_NAME.findall(data))

    def chosen(self, data: bytes) -> list[tuple[RuleInfo, frozenset[str]]]:
        """The inspectors that a text concerns, with those of their names that it holds, ``f(`` where it is called."""
        held: set[bytes] | None = None
        found = []
        for info in self.infos:
            if any(word.encode() in data for word in info.keywords):
                held = held if held is not None else set(_NAME.findall(data))
                wanted = self._wanted(info)
                tokens = wanted & held
                if tokens:
                    spaced = {token + b"(" for token in tokens} & wanted
                    found.append((info, frozenset(token.decode() for token in tokens | spaced)))
        return found

    def look(self, module: PythonModule, work: Work) -> None:
        """Show every inspector the nodes whose last name it asked for."""
        chosen = self.chosen(module.text.encode("utf-8", "replace"))
        if not chosen:
            return
        active = [(self._class(info)(info, work), names) for info, names in chosen]
        answered = frozenset(work.claimed)
        for node, called in _nodes(module, frozenset().union(*(names for _, names in active))):
            if not answered.isdisjoint(_places(module, node)):
                continue
            for inspector, names in active:
                if called in names:
                    inspector.visit(node)

    def _class(self, info: RuleInfo) -> type[Inspector]:
        if info.code not in self._classes:
            self._classes[info.code] = packs.load_inspector(info)
        return self._classes[info.code]

    def _wanted(self, info: RuleInfo, *, opening: bool = False) -> frozenset[bytes]:
        """What to look for in a text: names with a parenthesis, and those that need not be called without one too."""
        key = (info.code, opening)
        if key not in self._tokens and self._target is not None:
            found = self._class(info)
            names = found.opening(self._target) if opening else found.names(self._target)
            called = {name if name.endswith("(") else f"{name}(" for name in names}
            self._tokens[key] = frozenset(name.encode() for name in names | called)
        return self._tokens[key]


def _nodes(module: PythonModule, names: frozenset[str]) -> Iterator[tuple[ast.expr, str]]:
    """Calls of these names (``f(``), and the names themselves where they are not called, in source order."""
    plain = {name.rstrip("(") for name in names}
    renamed = _renamed(module, plain)
    offsets = (offset for name in plain.union(renamed) for offset in words(module.text, name))
    for statement in module.statements_with(offsets):
        found = [(node, _spelling(node, renamed)) for node in _expressions(statement)]
        wanted = [(node, called) for node, called in found if called in names]
        yield from sorted(wanted, key=lambda one: (one[0].lineno, one[0].col_offset, -(one[0].end_col_offset or 0)))


def _renamed(module: PythonModule, names: set[str]) -> dict[str, str]:
    """``stats`` after ``from torch import std_mean as stats``."""
    found: dict[str, str] = {}
    for scope in module.table.scopes.values():
        for name, bindings in scope.bindings.items():
            for binding in bindings:
                last = binding.target.rpartition(".")[2]
                if binding.kind == "import" and last != name and last in names:
                    found[name] = last
    return found


def _spelling(node: ast.expr, renamed: dict[str, str]) -> str:
    """The last name, with a parenthesis where it is called; ``x`` for ``torch.ops.aten.x.default``."""
    named = node.func if isinstance(node, ast.Call) else node
    name = last_name(named)
    if name == "default" and isinstance(named, ast.Attribute):
        name = last_name(named.value)
    name = renamed.get(name, name)
    return f"{name}(" if isinstance(node, ast.Call) else name


def _expressions(statement: Statement) -> Iterator[ast.expr]:
    """The calls and names of a statement itself; those in its body are statements of their own.

    F-strings are passed over: their fields have no true positions before Python 3.12.
    """
    stack: list[ast.AST] = [statement.node]
    whole = statement.shape == "whole"
    while stack:
        node = stack.pop()
        called = node.func if isinstance(node, ast.Call) else None
        for child in children(node):
            if isinstance(child, ast.JoinedStr) or (isinstance(child, (ast.stmt, ast.ExceptHandler)) and not whole):
                continue
            if child is called and isinstance(called, (ast.Name, ast.Attribute)):
                stack.extend(children(called))
            else:
                stack.append(child)
        if isinstance(node, ast.Call) or (
            isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load)
        ):
            yield node


def _places(module: PythonModule, node: ast.expr) -> set[tuple[int, int]]:
    """What a finding about the node would point at: all of its name, or the last part."""
    named = node.func if isinstance(node, ast.Call) else node
    start, end = module.range_of(named)
    return {(start, end), (end - len(named.attr), end)} if isinstance(named, ast.Attribute) else {(start, end)}
