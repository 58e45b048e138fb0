"""Rules that take statements away, or put some beside, instead of, or around others."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from npu_migrate.rule import Rule, comments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_migrate.structure.blocks import Changes

# In the place of what a statement held that goes; LibCST itself takes out lines that hold nothing, comments and all.
_GONE = cst.Pass()
Body = TypeVar("Body", cst.IndentedBlock, cst.Module)


class BlockError(Exception):
    """Another rule has changed the number of statements of the same block: which is which is not certain any more."""


class StepRule(Rule):
    """Base of rules that take away statements which only prepare what they rewrite; the comments stay."""

    def without(
        self,
        original: cst.SimpleStatementLine,
        updated: cst.SimpleStatementLine,
        key: str,
        /,
        *,
        symbol: str,
        **facts: str,
    ) -> cst.SimpleStatementLine:
        """A mark in the place of a statement: the block takes it out."""
        return self.rewrite(
            original,
            updated,
            gone(updated),
            key,
            at=original.body[0],
            after="",
            symbol=symbol,
            claims=None,
            used=None,
            **facts,
        )

    def leave_IndentedBlock(self, original: cst.IndentedBlock, updated: cst.IndentedBlock) -> cst.IndentedBlock:  # noqa: ARG002, D102, N802  # LibCST's own hook
        if not any(_is_gone(statement) for statement in updated.body):
            return updated
        return updated.with_changes(body=_joined([updated.body]))


class BlockRule(Rule):
    """Base of rules that edit blocks; ``changes`` says how, of the file as it was."""

    def changes(self) -> Changes | None:
        """The edits of this file; None where there are none."""
        raise NotImplementedError

    def leave_IndentedBlock(self, original: cst.IndentedBlock, updated: cst.IndentedBlock) -> cst.IndentedBlock:  # noqa: D102, N802  # LibCST's own hook
        return self._edited(original, updated)

    def leave_Module(self, original: cst.Module, updated: cst.Module) -> cst.Module:  # noqa: D102, N802  # LibCST's own hook
        return self._edited(original, updated)

    def _edited(self, original: Body, updated: Body) -> Body:
        changes = self.changes()
        if changes is None:
            return updated
        starts = [self.work.range_of(statement)[0] for statement in original.body]
        if not changes.touches(starts):
            return updated
        if len(updated.body) != len(starts):
            raise BlockError
        groups = [self._group(changes, start, old) for start, old in zip(starts, updated.body)]
        for first, last, header in changes.under:
            if first in starts:
                _put_under(groups, starts.index(first), starts.index(last), header)
        body = _joined(groups) or self._lines(["pass"], None)
        return updated.with_changes(body=body)

    def _group(self, changes: Changes, start: int, old: cst.BaseStatement) -> list[cst.BaseStatement]:
        instead = changes.instead.get(start)
        kept = [old] if instead is None else self._lines(instead, old)
        before, after = (
            self._lines(changes.before.get(start, []), None),
            self._lines(changes.after.get(start, []), None),
        )
        if instead == [] and isinstance(old, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            kept = [gone(old)]
        return [*before, *kept, *after]

    def _lines(self, lines: list[str], old: cst.BaseStatement | None) -> list[cst.BaseStatement]:
        config = self.work.tree.config_for_parsing
        new = [cst.ensure_type(cst.parse_statement(line, config=config), cst.SimpleStatementLine) for line in lines]
        if new and isinstance(old, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            inside = _comments(old) if isinstance(old, cst.BaseCompoundStatement) else []
            new[0] = new[0].with_changes(leading_lines=[*old.leading_lines, *inside])
        if new and isinstance(old, cst.SimpleStatementLine):
            new[0] = new[0].with_changes(trailing_whitespace=old.trailing_whitespace)
        return [*new]


def _put_under(groups: list[list[cst.BaseStatement]], first: int, last: int, header: str) -> None:
    inner = _joined(groups[first : last + 1])
    head = inner[0]
    lines = getattr(head, "leading_lines", ())
    body = [head.with_changes(leading_lines=[]), *inner[1:]]
    block = cst.With([cst.WithItem(cst.parse_expression(header))], cst.IndentedBlock(body), leading_lines=lines)
    groups[first : last + 1] = [[block], *([] for _ in range(last - first))]


def _joined(groups: Sequence[Sequence[cst.BaseStatement]]) -> list[cst.BaseStatement]:
    """The statements in order; of one that goes the comments stay, before the next."""
    body: list[cst.BaseStatement] = []
    waiting: list[cst.EmptyLine] = []
    for statement in (statement for group in groups for statement in group):
        if _is_gone(statement):
            waiting += [line for line in getattr(statement, "leading_lines", ()) if line.comment is not None]
        elif waiting and isinstance(statement, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            body.append(statement.with_changes(leading_lines=[*waiting, *statement.leading_lines]))
            waiting = []
        else:
            body.append(statement)
    return body


def gone(old: cst.SimpleStatementLine | cst.BaseCompoundStatement) -> cst.SimpleStatementLine:
    """The mark of a statement that goes, with its comments."""
    return cst.SimpleStatementLine([_GONE], [*old.leading_lines, *_comments(old)])


def _is_gone(statement: cst.BaseStatement) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and statement.body[0] is _GONE


def _comments(statement: cst.SimpleStatementLine | cst.BaseCompoundStatement) -> list[cst.EmptyLine]:
    """The comments in and behind a statement, a line for each."""
    inside = comments(statement.with_changes(leading_lines=[]))
    return [cst.EmptyLine(comment=cst.Comment(text)) for text in inside]
