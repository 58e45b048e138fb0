"""What makes a site the same site tomorrow: its text and what encloses it, not where it stands."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.engine.text import NEWLINE
from npu_migrate.files import notebooks
from npu_migrate.model import Status
from npu_migrate.trees import children

if TYPE_CHECKING:
    from npu_migrate.model import Finding
    from npu_migrate.report.model import Report

OPEN = frozenset({Status.REWRITTEN, Status.MANUAL, Status.UNSUPPORTED})
LONGEST = 160


class Site(NamedTuple):
    """One site without its place. ``scope`` is the class or function around it, ``code`` its line."""

    path: str
    rule: str
    scope: str
    code: str
    site: str


class Identities:
    """Tells the sites of one run apart; each file is parsed at most once."""

    def __init__(self, report: Report) -> None:
        """Nothing is read yet."""
        self._report = report
        self._scopes: dict[str, list[str]] = {}
        self._cells: dict[str, dict[int, list[str]]] = {}

    def site(self, finding: Finding) -> Site:
        """The identity of one finding; several on one line may share it."""
        code = _squeezed(self.line(finding))
        return Site(finding.path, finding.rule, self._scope(finding), code, _squeezed(finding.before))

    def line(self, finding: Finding) -> str:
        """The source line of a site, also in a notebook."""
        if finding.cell is None:
            return self._report.line_of(finding)
        if finding.path not in self._cells:
            text = "\n".join(self._report.lines(finding.path))
            self._cells[finding.path] = {cell.number: NEWLINE.split(cell.source) for cell in notebooks.cells(text)}
        source = self._cells[finding.path].get(finding.cell, [])
        return source[finding.span.line - 1] if finding.span.line <= len(source) else finding.before

    def _scope(self, finding: Finding) -> str:
        if finding.cell is not None:
            return ""
        scopes = self._scopes.get(finding.path)
        if scopes is None:
            scopes = self._scopes[finding.path] = _scopes(self._report.lines(finding.path))
        return scopes[finding.span.line] if finding.span.line < len(scopes) else ""


def _squeezed(text: str) -> str:
    return " ".join(text.split())[:LONGEST]


def _scopes(lines: list[str]) -> list[str]:
    """The dotted name of what encloses each line, by its number; nothing for what is no Python."""
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names = [""] * (len(lines) + 1)
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, scope = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope = f"{scope}.{node.name}".lstrip(".")
            last = node.end_lineno or node.lineno
            names[node.lineno : last + 1] = [scope] * (min(last, len(lines)) + 1 - node.lineno)
        pending.extend((child, scope) for child in children(node))
    return names
