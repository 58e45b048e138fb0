"""What a rule author imports: the base class of codemod rules, and the names they need.

A rule is an ordinary LibCST transformer: ``leave_Call(self, original, updated)`` returns what takes the node's place.
It asks its questions (what does this name mean, where does this string go) of the original node, makes its edit on the
updated one, and says what it did, so that every site it recognises ends up in the report::

    class CudaCall(Rule):
        def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
            if not is_method(original, "cuda"):
                return updated
            new = with_method(updated, "npu")
            return self.rewrite(original, updated, new, "renamed", at=original.func.attr)

``visit_X`` works too. Only statements with one of the rule's keywords are visited (with ``region = "import"`` in
``rule.toml``, only the imports among them; with ``"function"``, ``"class"`` or ``"module"``, all of the enclosing one).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, TypeVar

import libcst as cst

from npu_migrate.context import RuleContext
from npu_migrate.engine.imports import torch_imports
from npu_migrate.engine.work import ENGINE, STATUS_OF_BAR
from npu_migrate.model import Safety, Status, Text
from npu_migrate.names import Meaning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule

__all__ = ["Meaning", "Rule", "Safety", "Status", "dotted"]

Node = TypeVar("Node", bound=cst.CSTNode)
# Above these a name is the end of a longer one, or no expression.
NAMED = frozenset(
    {
        cst.AsName,
        cst.Attribute,
        cst.ClassDef,
        cst.FunctionDef,
        cst.Global,
        cst.ImportAlias,
        cst.ImportFrom,
        cst.NameItem,
        cst.Nonlocal,
    }
)


def dotted(node: cst.CSTNode | None) -> list[str] | None:
    """``a.b.c`` as its segments; None for anything but names and attributes."""
    parts: list[str] = []
    while node.__class__ is cst.Attribute:  # isinstance asks LibCST's abstract bases, at ten times the cost
        parts.append(node.attr.value)
        node = node.value
    if node.__class__ is not cst.Name:
        return None
    parts.append(node.value)
    parts.reverse()
    return parts


def comments(node: cst.CSTNode) -> list[str]:
    """The comments inside a node."""
    if isinstance(node, cst.Comment):
        return [node.value]
    return [text for child in node.children for text in comments(child)]


def _exchange(node: cst.BaseExpression, segments: list[str]) -> cst.BaseExpression:
    """Put other names into an attribute chain, from the right; its first name stays."""
    if not isinstance(node, cst.Attribute):
        return node
    attr = node.attr if node.attr.value == segments[-1] else node.attr.with_changes(value=segments[-1])
    return node.with_changes(value=_exchange(node.value, segments[:-1]), attr=attr)


class Rule(RuleContext, cst.CSTTransformer):
    """Base of all codemod rules."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int] | None:  # noqa: ARG003  # what overrides look at
        """Offsets of the only places where the rule can act, found with ``ast``; None: wherever a keyword stands.

        For rules whose keywords are common words: only statements with a site are parsed by LibCST.
        """
        return None

    def meaning(self, node: cst.CSTNode) -> Meaning:
        """What a name or attribute stands for; ``Meaning.name`` is None where that is not certain."""
        parts = dotted(node)
        if parts is None:
            return Meaning(None, "local")
        return self.work.module.names.meaning(parts, self.work.scope_of(node))

    def qualified_name(self, node: cst.CSTNode) -> str | None:
        """The absolute dotted name of an expression, aliases followed; None where it is not certain."""
        return self.meaning(node).name

    def expression(self, node: cst.CSTNode) -> ast.expr | None:
        """The ``ast`` twin of an original expression: for what surrounds it, see ``self.work.module``."""
        return self.work.expression_of(node)

    @property
    def parent(self) -> cst.CSTNode | None:
        """The (original) node above the one being left."""
        return self.work.stack[-1] if self.work.stack else None

    def is_part_of_name(self, node: cst.CSTNode) -> bool:
        """Whether a name or attribute is the left end of a longer one, or no expression (a keyword, an import)."""
        parent = self.parent
        cls = parent.__class__
        if cls is cst.Param:
            return parent.default is not node  # type: ignore[union-attr]
        if cls is cst.Arg:
            return parent.keyword is node  # type: ignore[union-attr]
        return cls in NAMED

    def nearest_message(self, name: str, default: str) -> str:
        """The key of the message for the longest prefix of a dotted name that has one of its own."""
        parts = name.split(".")
        keys = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((key for key in keys if key in self.info.messages), default)

    def spelled_out(self, node: cst.BaseExpression, old: str, new: str, head: str) -> cst.BaseExpression:
        """A dotted expression under another name; white space, and the program's own name for torch, stay.

        Args:
            node: the expression as it is now.
            old: its absolute name.
            new: the absolute name it gets.
            head: what the expression starts with in this file.
        """
        before, after = old.split("."), new.split(".")
        if len(before) == len(after) and before[0] == after[0]:
            return _exchange(node, after)
        after[0] = head if after[0] == before[0] else after[0]
        return cst.parse_expression(".".join(after))

    def rewrite(  # noqa: PLR0913  # an edit is its two nodes, its message, its place and the facts to mention
        self,
        original: cst.CSTNode,
        updated: Node,
        new: cst.CSTNode | cst.FlattenSentinel[Any],
        key: str,
        /,
        *,
        at: cst.CSTNode | None = None,
        claims: cst.CSTNode | None = None,
        symbol: str = "",
        after: str | None = None,
        used: ast.AST | None = None,
        **facts: str,
    ) -> Node:
        """Put ``new`` in the place of ``updated`` and report it; what must stay is reported and stays.

        Args:
            original: the node as it stands in the source.
            updated: the node as other rules left it.
            new: the replacement.
            key: the message in ``rule.toml``.
            at: the part to point at (default: all of ``original``).
            claims: the part that has its answer with this (default: all that is pointed at); other words about CUDA in
                the rest are looked at for themselves.
            symbol: the absolute name that this is about.
            after: the text to show as the outcome (default: the code of ``new``).
            used: where the value arrives and shows what it is.
            facts: what the message mentions.
        """
        place = at if at is not None else original
        span = self.work.range_of(place) if at is not None else self._replaced(original, new)
        bar = self._barred(span)
        if bar is None and "#" in self.work.module.text[span[0] : span[1]] and self._loses_comment(original, new):
            bar = Text(ENGINE, "comment")
        shown = self.work.code(new) if after is None and isinstance(new, cst.CSTNode) else after or ""
        if bar is not None:
            self.work.file(self.info.code, span, STATUS_OF_BAR[bar.key], bar, symbol=symbol)
            return updated
        allowed = self.work.allows(self.info.safety)
        self.work.file(
            self.info.code,
            span,
            Status.REWRITTEN if allowed else Status.MANUAL,
            Text(self.info.code, key, tuple(facts.items())),
            symbol=symbol,
            after=shown,
            safety=self.info.safety,
            used=self.work.module.range_of(used) if used is not None else None,
            claim=self.work.range_of(claims) if claims is not None else None,
        )
        if not allowed:
            return updated
        return new  # type: ignore[return-value]  # LibCST's own typing of transformers is as loose

    def _replaced(self, original: cst.CSTNode, new: cst.CSTNode | cst.FlattenSentinel[Any]) -> tuple[int, int]:
        """Where an original node stands, with its parentheses if the new one has none."""
        start, end = self.work.range_of(original)
        if isinstance(original, cst.BaseExpression) and not (isinstance(new, cst.BaseExpression) and new.lpar):
            text = self.work.module.text
            for _ in original.lpar:
                start, end = text.rindex("(", 0, start), text.index(")", end) + 1
        return start, end

    def _loses_comment(self, original: cst.CSTNode, new: cst.CSTNode | cst.FlattenSentinel[Any]) -> bool:
        """Whether a comment inside the original node is not in the new one."""
        new_nodes = list(new) if isinstance(new, cst.FlattenSentinel) else [new]
        left = [text for node in new_nodes for text in comments(node)]
        return any(text not in left for text in comments(original))

    def report(
        self,
        original: cst.CSTNode,
        status: Status,
        key: str,
        /,
        *,
        at: cst.CSTNode | ast.AST | None = None,
        symbol: str = "",
        **facts: str,
    ) -> None:
        """Say something about a node without changing it; ``at`` may be an ``ast`` node anywhere in the file."""
        place = at if at is not None else original
        span = self.work.module.range_of(place) if isinstance(place, ast.AST) else self.work.range_of(place)
        text = Text(self.info.code, key, tuple(facts.items()))
        self.work.say(span, status, text, symbol=symbol, heeds_vendors=self.heeds_vendors)

    def need_import(self, name: str, node: cst.CSTNode, *, beside_torch: bool = False) -> None:
        """Ask for ``import name``; the engine finds the right place in the file.

        ``beside_torch``: only in a file that imports PyTorch itself, since others only hand the value on.
        """
        if not beside_torch or self.work.module.fact("imports torch", lambda: bool(torch_imports(self.work.module))):
            self.work.need_import(name, node)

    def _barred(self, span: tuple[int, int]) -> Text | None:
        bar = self.work.barred(self.info.code, span)
        return bar if bar is None or self.heeds_vendors or bar.key == "suppressed" else None

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Keep the stack of ancestors when stock LibCST drives the rule."""
        entered = super().on_visit(node)
        self.work.stack.append(node)
        return entered

    def on_leave(self, original_node: Node, updated_node: Node) -> Node:
        """Keep the stack of ancestors when stock LibCST drives the rule."""
        self.work.stack.pop()
        return super().on_leave(original_node, updated_node)  # type: ignore[return-value]
