"""Walks over ``ast`` trees: those of the standard library take three times as long, and every rule walks."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Fields that never hold a node, and the context of names, which nobody looks for.
_PLAIN = frozenset({"arg", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "simple", "type_comment"})


_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, in source order of its fields; contexts (``Load``, ``Store``) are left out."""
    found: list[ast.AST] = []
    cls = node.__class__
    fields = _FIELDS.get(cls)
    if fields is None:
        fields = _FIELDS[cls] = tuple(name for name in cls._fields if name not in _PLAIN)
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(root: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, level by level like ``ast.walk``."""
    nodes = [root]
    for node in nodes:
        nodes += children(node)
        yield node
