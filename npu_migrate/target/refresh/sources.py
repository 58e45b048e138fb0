"""Parses files of a release without a word: what is odd in them is not ours to complain about."""

from __future__ import annotations

import ast
import warnings


def parse(source: bytes) -> ast.Module:
    """The syntax tree; empty for a file that this Python cannot read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):
            return ast.Module(body=[], type_ignores=[])
