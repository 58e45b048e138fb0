"""Device strings as LibCST sees them: find the word ``cuda`` at the start of a string of any form, and exchange it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Union

import libcst as cst

from npu_migrate.values.devices import is_device_text

if TYPE_CHECKING:
    import ast

    from npu_migrate.rule import Rule

String = Union[cst.SimpleString, cst.FormattedString, cst.ConcatenatedString]


def beginning(node: String) -> str | None:
    """The constant text that a string starts with, up to its first field; None for bytes and where it has escapes."""
    if isinstance(node, cst.ConcatenatedString):
        return beginning(node.left)
    if isinstance(node, cst.FormattedString):
        first = node.parts[0] if node.parts else None
        return first.value if isinstance(first, cst.FormattedStringText) else None
    if "b" in node.prefix.lower() or "\\" in node.raw_value:
        return None
    return node.raw_value


def is_device_string(node: String) -> bool:
    """Whether a string is a CUDA device or completes to one: ``"cuda"``, ``'cuda:%d'``, ``f"cuda:{i}"``."""
    text = beginning(node)
    if text is None:
        return False
    if isinstance(node, cst.FormattedString) and len(node.parts) > 1:
        return text in ("cuda", "cuda:")
    return is_device_text(text)


def exchanged(node: String, new: str = "npu") -> String:
    """The same string with ``new`` for the ``cuda`` it starts with; of several devices, for each."""
    if isinstance(node, cst.ConcatenatedString):
        return node.with_changes(left=exchanged(node.left, new))
    if isinstance(node, cst.FormattedString):
        first = cst.ensure_type(node.parts[0], cst.FormattedStringText)
        changed = first.with_changes(value=new + first.value[len("cuda") :])
        return node.with_changes(parts=[changed, *node.parts[1:]])
    return node.with_changes(value=node.value.replace("cuda", new))


def whole_string(rule: Rule, node: String) -> Optional[ast.expr]:  # noqa: UP045  # evaluated by rule authors' tools
    """The ``ast`` expression of the string that ``node`` is, or is the first piece of; None for a later piece."""
    outer: cst.CSTNode = node
    for above in reversed(rule.work.stack):
        if not isinstance(above, cst.ConcatenatedString):
            break
        if above.left is not outer:
            return None
        outer = above
    return rule.work.expression_of(outer)
