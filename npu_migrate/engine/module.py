"""One Python file under migration: its text, its statements, its names, and how ``ast`` nodes lie in it."""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from npu_migrate.engine.statements import Scope, Statement, StatementTable
from npu_migrate.names import Follow, Names
from npu_migrate.trees import children

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.engine.text import SourceText

Range = tuple[int, int]
Fact = TypeVar("Fact")
# More statements than anybody writes on the lines of one.
A_LINE_FULL = 64


def parse(text: str) -> StatementTable:
    """The statements of a text.

    Raises:
        SyntaxError, ValueError, RecursionError: see ``PythonModule``.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are the author's business
        return StatementTable(ast.parse(text))


class PythonModule:
    """A parsed file. Offsets are characters into ``text``; lines are 1-based.

    Raises:
        SyntaxError: the text is not valid for the Python that runs the tool.
        ValueError: the text holds a NUL.
        RecursionError: the text nests too deeply.
    """

    def __init__(
        self, path: str, source: SourceText, follow: Follow | None = None, table: StatementTable | None = None
    ) -> None:
        self.path = path
        self.source = source
        self.text = source.text
        self.table = table if table is not None else parse(source.text)
        self.tree = self.table.tree
        self.names = Names(self.table, path, follow)
        self._firsts = [s.first for s in self.table.statements]
        self._parents: dict[ast.AST, ast.AST] = {}
        self._by_range: dict[Range, ast.expr] = {}
        self._indexed: set[int] = set()
        self._facts: dict[str, Any] = {}

    def fact(self, name: str, find: Callable[[], Fact]) -> Fact:
        """Something about the whole file that rules want to know again and again; found once."""
        if name not in self._facts:
            self._facts[name] = find()
        known: Fact = self._facts[name]
        return known

    def forget(self) -> None:
        """Let go of the facts, some of which hold the module: without this it lives until a garbage collection."""
        self._facts.clear()

    def line_of(self, offset: int) -> int:
        """The line on which an offset stands."""
        return bisect_right(self.source.line_starts, offset)

    def line_start(self, line: int) -> int:
        """Offset of the first character of a line; the end of the text for the line after the last."""
        starts = self.source.line_starts
        return starts[line - 1] if line <= len(starts) else len(self.text)

    def position(self, offset: int) -> tuple[int, int]:
        """1-based line and column, in characters."""
        line = self.line_of(offset)
        return line, offset - self.source.line_starts[line - 1] + 1

    def statement_at(self, offset: int) -> Statement | None:
        """The innermost statement (or header) that contains an offset; the one before it for what lies between two."""
        found = self._last_on_line(offset)
        if found is None or not self._shares_line(found, offset):
            return found
        around = self.statements_on(offset)
        ranges = [(self.range_of(one.node), one) for one in around]
        inside = [one for (start, end), one in ranges if start <= offset < end]
        before = [one for (start, _), one in ranges if start <= offset]
        return (inside or before or around[-1:])[0]

    def _last_on_line(self, offset: int) -> Statement | None:
        """The last of the innermost statements on an offset's line."""
        line = self.line_of(offset)
        index = bisect_right(self._firsts, line) - 1
        current = self.table.statements[index] if index >= 0 else None
        while current is not None and current.last < line:
            current = current.parent
        return current

    def _shares_line(self, statement: Statement, offset: int) -> bool:
        """Whether others stand on the line: before a semicolon, or with this one behind their colon."""
        before = self.table.statements[statement.index - 1] if statement.index else None
        nested = statement.parent is not None and statement.parent.shape == "whole"
        return nested or (before is not None and before.last >= self.line_of(offset))

    def statements_on(self, offset: int) -> list[Statement]:
        """All statements that share the line of an offset, last and innermost first."""
        last = self._last_on_line(offset)
        if last is None:
            return []
        line = self.line_of(offset)
        before = self.table.statements[max(0, last.index - A_LINE_FULL) : last.index]
        return [last, *(other for other in reversed(before) if other.last >= line)]

    def statements_with(self, offsets: Iterable[int]) -> list[Statement]:
        """The statements that contain offsets, in source order; all of ``if a: b``, which cannot be taken in pieces."""
        found: dict[int, Statement] = {}
        for offset in offsets:
            statement = self.statement_at(offset)
            while statement is not None and statement.parent is not None and statement.parent.shape == "whole":
                statement = statement.parent
            if statement is not None:
                found[statement.index] = statement
        return [found[index] for index in sorted(found)]

    def scope_at(self, offset: int) -> Scope:
        """The scope that names at an offset are looked up in."""
        statement = self.statement_at(offset)
        return statement.scope if statement is not None else self.table.module

    def range_of(self, node: ast.AST) -> Range:
        """Start and end offset of an ``ast`` node."""
        start = self.source.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return start, self.source.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def expression_at(self, span: Range) -> ast.expr | None:
        """The ``ast`` expression that covers exactly this range."""
        statement = self.statement_at(span[0])
        if statement is not None:
            self.index(statement.node)
        return self._by_range.get(span)

    def index(self, root: ast.AST) -> None:
        """Make ``parent`` and ``expression_at`` work below ``root``; bodies of functions and classes inside it too."""
        if id(root) in self._indexed:
            return
        self._indexed.add(id(root))
        stack = [root]
        while stack:
            node = stack.pop()
            for child in children(node):
                self._parents[child] = node
                stack.append(child)
            if isinstance(node, ast.expr):
                self._by_range.setdefault(self.range_of(node), node)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node above; None for a statement of the module or where ``index`` has not been."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes above, nearest first."""
        current = self._parents.get(node)
        while current is not None:
            yield current
            current = self._parents.get(current)

    def adopt(self, root: ast.expr, parent: ast.AST | None, start: int) -> ast.expr:
        """Take in an expression parsed by itself (f-string fields have no true positions before Python 3.12)."""
        if parent is not None:
            self._parents[root] = parent
        stack: list[ast.AST] = [root]
        while stack:
            node = stack.pop()
            for child in children(node):
                self._parents[child] = node
                stack.append(child)
            if isinstance(node, ast.expr) and node.lineno == 1 and node.end_lineno == 1:
                self._by_range[start + node.col_offset, start + (node.end_col_offset or 0)] = node
        return root
