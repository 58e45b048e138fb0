"""What the author of a rule that only reports imports.

Such a rule changes nothing, so it needs no LibCST: it says which names it looks for, and is shown every call of one of
them, and every other mention, as an ``ast`` node::

    class SlowThing(Inspector):
        @classmethod
        def names(cls, target: Target) -> frozenset[str]:
            return frozenset({"slow_thing"})

        def visit(self, node: ast.expr) -> None:
            if self.qualified_name(node) == "torch.slow_thing":
                self.report(node, Status.ADVICE, "slow", symbol="torch.slow_thing")

A file is looked at if it holds one of the ``keywords`` of ``rule.toml`` and one of the names.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.context import RuleContext
from npu_migrate.model import Status, Text
from npu_migrate.names import Meaning, dotted

if TYPE_CHECKING:
    from npu_migrate.target import Target

__all__ = ["Inspector", "Meaning", "Status"]


class Inspector(RuleContext):
    """Base of all rules that only report."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:
        """The last names of what the rule looks for; asked once a run.

        ``mode(`` asks for calls alone: a name so common would let most files in.
        """
        raise NotImplementedError

    @classmethod
    def opening(cls, target: Target) -> frozenset[str]:
        """Those of the names for which a file is looked at that concerns no other rule; by default all."""
        return cls.names(target)

    def visit(self, node: ast.expr) -> None:
        """Look at a call whose last name is one of ``names``, or at such a name that is not called."""
        raise NotImplementedError

    def qualified_name(self, node: ast.expr) -> str | None:
        """The absolute dotted name of an expression (of what a call calls); None where it is not certain."""
        named = node.func if isinstance(node, ast.Call) else node
        parts = dotted(named)
        if parts is None:
            return None
        return self.module.names.meaning(parts, self.module.scope_at(self.module.range_of(named)[0])).name

    def report(self, node: ast.expr, status: Status, key: str, /, *, symbol: str = "", **facts: str) -> None:
        """Say something about a node; it is pointed at by its last name."""
        named = node.func if isinstance(node, ast.Call) else node
        start, end = self.module.range_of(named)
        if isinstance(named, ast.Attribute):
            start = end - len(named.attr)
        text = Text(self.info.code, key, tuple(facts.items()))
        self.work.say((start, end), status, text, symbol=symbol, heeds_vendors=self.heeds_vendors)
