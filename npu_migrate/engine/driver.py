"""Runs rules over LibCST nodes and copies only the spine of a change.

The same traversal as ``Module.visit``, for the hooks that rules use, without a visit to every comma and white space.
Tests hold it against stock LibCST.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any, Callable

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_migrate.engine.work import Work
    from npu_migrate.rule import Rule

TOKENS = frozenset(
    [
        "asynchronous",
        "colon",
        "comma",
        "dot",
        "equal",
        "first_colon",
        "footer",
        "header",
        "indicator",
        "lbrace",
        "lbracket",
        "leading_lines",
        "lines_after_decorators",
        "lpar",
        "operator",
        "operators",
        "rbrace",
        "rbracket",
        "rpar",
        "second_colon",
        "semicolon",
        "star",
        "trailing_whitespace",
    ]
)
LEAVES = frozenset({cst.Name, cst.SimpleString, cst.Integer, cst.Float, cst.Pass, cst.Break, cst.Continue})
Hook = Callable[..., Any]


@cache
def _children(cls: type[cst.CSTNode]) -> tuple[str, ...]:
    names = [f.name for f in dataclasses.fields(cls) if not f.name.startswith("_")]
    return tuple(n for n in names if n not in TOKENS and "whitespace" not in n)


@cache
def _is_node(cls: type) -> bool:
    return issubclass(cls, cst.CSTNode)


@cache
def _hook_names(rule: type[Rule], prefix: str) -> tuple[tuple[type[cst.CSTNode], str], ...]:
    """The hooks that a class or its own bases define; LibCST's defaults do nothing and are left out."""
    own = [
        name
        for name in dir(rule)
        if name.startswith(prefix) and getattr(rule, name) is not getattr(cst.CSTTransformer, name, None)
    ]
    return tuple((getattr(cst, name[len(prefix) :]), name) for name in own)


def hooks(rules: Sequence[Rule], prefix: str) -> dict[type, list[Hook]]:
    """Bound ``leave_X`` (or ``visit_X``) methods of the rules, by node class."""
    found: dict[type, list[Hook]] = {}
    for rule in rules:
        for node_class, name in _hook_names(type(rule), prefix):
            found.setdefault(node_class, []).append(getattr(rule, name))
    return found


class Driver:
    """One traversal for all rules: at each node they act in turn, each on what the one before left."""

    def __init__(self, work: Work, rules: Sequence[Rule]) -> None:
        self.stack = work.stack
        self.on_leave = hooks(rules, "leave_")
        self.on_visit = hooks(rules, "visit_")

    def run(self, node: Any) -> Any:  # noqa: ANN401  # any node gives a node of any class
        """Rewrite ``node`` and what is below it; the same object comes back where nothing changed."""
        cls = node.__class__
        new = node
        refused = [visit for visit in self.on_visit.get(cls, ()) if visit(node) is False]
        if not refused and cls not in LEAVES:
            changes = self._changes(node, cls)
            if changes:
                new = node.with_changes(**changes)
        for leave in self.on_leave.get(cls, ()):
            new = leave(node, new)
        return new

    def _changes(self, node: cst.CSTNode, cls: type[cst.CSTNode]) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        self.stack.append(node)
        for name in _children(cls):
            value = getattr(node, name)
            kind = value.__class__
            if kind is tuple or kind is list:
                replaced = [self.run(item) for item in value]
                if any(a is not b for a, b in zip(replaced, value)):
                    changes[name] = _flat(replaced)
            elif _is_node(kind):
                fresh = self.run(value)
                if fresh is not value:
                    changes[name] = fresh
        self.stack.pop()
        return changes


def _flat(nodes: list[Any]) -> list[Any]:
    flat: list[Any] = []
    for node in nodes:
        if isinstance(node, cst.FlattenSentinel):
            flat.extend(node)
        elif not isinstance(node, cst.RemovalSentinel):
            flat.append(node)
    return flat
