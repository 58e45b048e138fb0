"""Only the statements with a hit go to LibCST: cut them out, parse them as one module, put the changed ones back.

Bytes outside a changed region cannot change, by construction.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.engine.statements import FUNCTIONS, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_migrate.engine.module import PythonModule

# A header that cannot stand alone is parsed under a keyword that can and takes the same expressions.
STAND_INS = (("elif", "if"), ("except*", "with"), ("except", "with"))
INDENT = " \t\x0c"


class RegionError(Exception):
    """The regions cannot be parsed one by one; the whole file has to be."""


@dataclass
class Region:
    """A run of whole lines and its form as a statement of the synthetic module."""

    start: int
    end: int
    statement: Statement
    prefix: str = ""
    suffix: str = ""
    swap: tuple[str, str] = ("", "")
    indent: str = ""

    def dressed(self, source: str) -> str:
        """The region's text as it is parsed."""
        text = source[self.start : self.end]
        self.indent = text[: len(text) - len(text.lstrip(INDENT))]
        if self.indent:
            self.prefix = "if 1:\n"
        if not text.endswith(("\n", "\r")):
            self.suffix = "\n"
        if self.statement.shape == "head":
            for word, stand_in in STAND_INS:
                if text.startswith(word, len(self.indent)):
                    self.swap = (word, stand_in)
                    text = self.indent + stand_in + text[len(self.indent) + len(word) :]
                    break
            self.suffix += self.indent + " pass\n"
        return self.prefix + text + self.suffix

    def undressed(self, code: str) -> str:
        """The inverse of ``dressed`` for rewritten code."""
        if not code.startswith(self.prefix) or not code.endswith(self.suffix):
            raise RegionError
        code = code[len(self.prefix) : len(code) - len(self.suffix)]
        word, stand_in = self.swap
        if word:
            code = code[: len(self.indent)] + word + code[len(self.indent) + len(stand_in) :]
        return code

    def to_source(self, offset: int) -> int:
        """Where an offset into ``dressed`` text stands in the source."""
        inside = offset - len(self.prefix)
        word, stand_in = self.swap
        if word and inside > len(self.indent):
            inside += len(word) - len(stand_in)
        return self.start + inside


def widen(statement: Statement, kind: str) -> Statement | None:
    """The enclosing function or class of a hit, for rules that need to see all of it."""
    wanted = FUNCTIONS if kind == "function" else (ast.ClassDef,)
    current: Statement | None = statement
    while current is not None and not isinstance(current.node, wanted):
        current = current.parent
    return current


def cut(module: PythonModule, statements: Sequence[Statement], wide: Sequence[Statement] = ()) -> list[Region]:
    """Turn statements into disjoint regions; ``wide`` ones are taken with their bodies."""
    areas: list[tuple[int, int, Statement]] = [(s.first, s.last, s) for s in statements]
    for statement in wide:
        whole = Statement(
            statement.first,
            statement.node.end_lineno or statement.last,
            "whole",
            statement.node,
            statement.scope,
            statement.parent,
        )
        areas.append((whole.first, whole.last, whole))
    areas.sort(key=lambda a: (a[0], -a[1]))
    merged: list[tuple[int, int, Statement]] = []
    for first, last, statement in areas:
        if merged and first <= merged[-1][1]:
            start, end, owner = merged[-1]
            if last > end:
                if owner.shape != "simple" or statement.shape != "simple":
                    raise RegionError
                merged[-1] = (start, last, owner)
            continue
        merged.append((first, last, statement))
    return [Region(module.line_start(a), module.line_start(b + 1), s) for a, b, s in merged]


def parse(module: PythonModule, regions: Sequence[Region]) -> cst.Module:
    """All regions as one synthetic module, one statement each.

    Raises:
        RegionError: the pieces do not parse by themselves.
    """
    text = "".join(region.dressed(module.text) for region in regions)
    try:
        tree = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise RegionError from error
    if len(tree.body) != len(regions):
        raise RegionError
    return tree
