"""The state of one traversal: where its nodes stand, what rules have said, what the new file needs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.engine.branches import names_npu, vendor_branch
from npu_migrate.engine.offsets import offsets
from npu_migrate.model import Finding, Safety, Span, Status, Text

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.regions import Region
    from npu_migrate.engine.settings import Settings
    from npu_migrate.engine.statements import Scope
    from npu_migrate.suppressions import Suppressions

Range = tuple[int, int]
ENGINE = "NPU000"


class Work:
    """What rules share while they visit one parse of a module (all of it, or its regions one after the other)."""

    def __init__(self, module: PythonModule, tree: cst.Module, settings: Settings, suppressions: Suppressions) -> None:
        self.module = module
        self.tree = tree
        self.settings = settings
        self.suppressions = suppressions
        self.stack: list[cst.CSTNode] = []
        self.findings: list[Finding] = []
        self.claimed: list[Range] = []
        self.imports: dict[str, list[int]] = {}
        self._region: Region | None = None
        self._root: cst.CSTNode = tree
        self._offsets: dict[int, Range] | None = None
        self._fields: dict[int, ast.expr] = {}

    def enter(self, region: Region, root: cst.CSTNode) -> None:
        """Begin with the next region."""
        self._region = region
        self._root = root
        self._offsets = None

    def range_of(self, node: cst.CSTNode) -> Range:
        """Where an original node stands in the source, in characters."""
        found = self._only_place(node)
        if found is not None:
            return found
        if self._offsets is None:
            self._offsets = offsets(self._root, self.tree)
        start, end = self._offsets[id(node)]
        if self._region is None:
            return start, end
        return self._region.to_source(start), self._region.to_source(end)

    def _only_place(self, node: cst.CSTNode) -> Range | None:
        """Where the text of a plain name or string stands, if it stands once in the region: all offsets cost more."""
        text = _spelling(node)
        if not text or self._region is None:
            return None
        source, end = self.module.text, self._region.end
        start = source.find(text, self._region.start, end)
        if start < 0 or source.find(text, start + 1, end) >= 0:
            return None
        return start, start + len(text)

    def scope_of(self, node: cst.CSTNode) -> Scope:
        """The scope in which a node's names are looked up."""
        region = self._region
        if region is not None and region.statement.shape != "whole":
            return region.statement.scope
        return self.module.scope_at(self.range_of(node)[0])

    def code(self, node: cst.CSTNode) -> str:
        """A node as text, without the white space round it."""
        return self.tree.code_for_node(node).strip()

    def expression_of(self, node: cst.CSTNode) -> ast.expr | None:
        """The ``ast`` twin of an expression, for questions about what surrounds it."""
        span = self.range_of(node)
        found = self.module.expression_at(span)
        if found is not None or not self.stack:
            return found
        for outer in reversed(self.stack):
            if isinstance(outer, cst.FormattedStringExpression):
                self._adopt(outer)
                return self.module.expression_at(span)
        return None

    def _adopt(self, outer: cst.FormattedStringExpression) -> None:
        """Give the expression inside an f-string true positions, which ``ast`` only has since Python 3.12."""
        inner = outer.expression
        if id(inner) in self._fields:
            return
        strings = [n for n in self.stack if isinstance(n, (cst.FormattedString, cst.ConcatenatedString))]
        owner = self.module.expression_at(self.range_of(strings[0])) if strings else None
        start, end = self.range_of(inner)
        try:
            parsed = ast.parse(self.module.text[start:end], mode="eval").body
        except SyntaxError:
            return
        self._fields[id(inner)] = self.module.adopt(parsed, owner, start)

    def claim(self, span: Range) -> None:
        """Note that a stretch of the source has its answer."""
        self.claimed.append(span)

    def file(  # noqa: PLR0913  # a finding has that many sides
        self,
        rule: str,
        span: Range,
        status: Status,
        text: Text,
        *,
        symbol: str = "",
        after: str = "",
        safety: Safety | None = None,
        used: Range | None = None,
        claim: Range | None = None,
    ) -> None:
        """Add a finding; its place, or ``claim`` instead, has its answer."""
        self.claim(claim or span)
        self.findings.append(
            Finding(
                rule=rule,
                path=self.module.path,
                span=self.span(*span),
                status=status,
                text=text,
                safety=safety,
                symbol=symbol,
                before=self.module.text[span[0] : span[1]],
                after=after,
                used=self.span(*used) if used else None,
            )
        )

    def say(self, span: Range, status: Status, text: Text, *, symbol: str, heeds_vendors: bool) -> None:
        """Add a finding that changes nothing, unless a comment or a branch for another device bars the rule."""
        rule = text.rule
        bar = self.barred(rule, span) if status is not Status.KEPT else None
        if bar is not None and (heeds_vendors or bar.key == "suppressed"):
            status, text = STATUS_OF_BAR[bar.key], bar
        self.file(rule, span, status, text, symbol=symbol)

    def span(self, start: int, end: int) -> Span:
        """A range as lines and columns."""
        return Span(*self.module.position(start), *self.module.position(end))

    def barred(self, rule: str, span: Range) -> Text | None:
        """Why a site must stay as it is whatever a rule says: a comment, or a branch for another vendor."""
        first, last = self.module.line_of(span[0]), self.module.line_of(max(span[0], span[1] - 1))
        comment = self.suppressions.covering(rule, first, last)
        if comment is not None:
            return Text(ENGINE, "suppressed", (("comment", comment),))
        vendor = vendor_branch(self.module, span[0])
        if vendor is not None:
            return Text(ENGINE, "vendor-branch" if names_npu(vendor) else "other-vendor", (("test", vendor),))
        return None

    def allows(self, safety: Safety) -> bool:
        """Whether edits of this level may be made in this run."""
        return safety.rank <= self.settings.safety.rank

    def need_import(self, name: str, node: cst.CSTNode) -> None:
        """The rewritten file needs ``import name`` to have run before the statement that holds ``node``."""
        offset = self._region.start if self._region is not None else self.range_of(node)[0]
        self.imports.setdefault(name, []).append(offset)


def _spelling(node: cst.CSTNode) -> str:
    """The code of a name, dotted or not, or of a simple string; empty for all else, and where parentheses are in it."""
    parts: list[str] = []
    while node.__class__ is cst.Attribute:  # isinstance asks LibCST's abstract bases, at ten times the cost
        if node.lpar or not (node.dot.whitespace_before.empty and node.dot.whitespace_after.empty):
            return ""
        parts.append(node.attr.value)
        node = node.value
    if node.__class__ not in PLAIN or node.lpar:
        return ""
    parts.append(node.value)  # type: ignore[attr-defined]  # a name or a string
    parts.reverse()
    return ".".join(parts)


PLAIN = frozenset({cst.Name, cst.SimpleString})
STATUS_OF_BAR = {
    "suppressed": Status.SUPPRESSED,
    "vendor-branch": Status.KEPT,
    "other-vendor": Status.MANUAL,
    "comment": Status.MANUAL,
}
