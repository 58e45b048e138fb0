"""Editing calls: one more argument, in the form of those that are there."""

from __future__ import annotations

import libcst as cst

_NONE = cst.SimpleWhitespace("")
_SPACE = cst.SimpleWhitespace(" ")


def keyword_of(call: cst.Call, name: str) -> cst.Arg | None:
    """The argument that is passed by this keyword."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def with_keyword(call: cst.Call, name: str, value: str) -> cst.Call:
    """The call with ``name="value"`` after its arguments; comments and line breaks stay where they are."""
    equal = cst.AssignEqual(_NONE, _NONE)
    added = cst.Arg(cst.SimpleString(f'"{value}"'), keyword=cst.Name(name), equal=equal)
    if not call.args:
        return call.with_changes(args=[added])
    *before, last = call.args
    after = last.comma.whitespace_after if isinstance(last.comma, cst.Comma) else None
    if isinstance(after, cst.ParenthesizedWhitespace):
        lines = call.whitespace_before_args
        indent = lines.last_line if isinstance(lines, cst.ParenthesizedWhitespace) else after.last_line
        comma = cst.Comma(whitespace_after=after.with_changes(last_line=indent))
        ending = cst.Comma(whitespace_after=cst.ParenthesizedWhitespace(indent=after.indent, last_line=after.last_line))
        added = added.with_changes(comma=ending)
    else:
        comma = cst.Comma(whitespace_after=_SPACE)
        added = added.with_changes(whitespace_after_arg=last.whitespace_after_arg)
        last = last.with_changes(whitespace_after_arg=_NONE)
    return call.with_changes(args=[*before, last.with_changes(comma=comma), added])
