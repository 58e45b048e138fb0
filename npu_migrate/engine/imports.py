"""Where ``import torch_npu`` goes in a file that needs it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.engine.statements import FUNCTIONS, TRY

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Statement

VISIBLE = re.compile(r"(CUDA|ASCEND_RT)_VISIBLE_DEVICES")


class Insertion(NamedTuple):
    """Text to put in at an offset of the source."""

    offset: int
    text: str


def insertions(
    module: PythonModule, name: str, uses: list[int], *, guarded: bool = False, named: bool = False
) -> list[Insertion]:
    """Import ``name`` so that it has run before the given offsets; nothing where the file does so already.

    ``guarded``: the file goes on without it where it is not installed. ``named``: the name itself is needed, not only
    that the package has been loaded.
    """
    if _imports(module, name, named=named):
        return []
    anchors = [s for s in torch_imports(module) if not _type_checking(s)]
    outer = [s for s in anchors if s.scope is module.table.module]
    if outer:
        first = next((s for s in outer if s.parent is None), outer[0])
        return [_after(module, _past_visible_devices(module, first), name, uses, guarded=guarded)]
    inner = {id(s.scope): s for s in reversed(anchors)}
    local = [s for s in inner.values() if any(_inside(module, s, use) for use in uses)]
    if local and not guarded:
        return [_after(module, s, name, uses) for s in sorted(local, key=lambda s: s.first)]
    return [_at_top(module, name, guarded=guarded)]


def _imports(module: PythonModule, name: str, *, named: bool) -> bool:
    if named:
        bindings = module.table.module.bindings.get(name, ())
        return any(binding.kind == "import" and binding.target == name for binding in bindings)
    for statement in module.table.statements:
        node = statement.node
        if statement.scope is not module.table.module or _type_checking(statement):
            continue
        if isinstance(node, ast.Import) and any(_is_or_below(a.name, name) for a in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and not node.level and _is_or_below(node.module or "", name):
            return True
    return False


def _is_or_below(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")


def torch_imports(module: PythonModule) -> list[Statement]:
    """The statements that import PyTorch or something of it."""
    found = []
    for statement in module.table.statements:
        node = statement.node
        if (isinstance(node, ast.Import) and any(_is_or_below(a.name, "torch") for a in node.names)) or (
            isinstance(node, ast.ImportFrom) and not node.level and _is_or_below(node.module or "", "torch")
        ):
            found.append(statement)
    return found


def _type_checking(statement: Statement) -> bool:
    parent = statement.parent
    while parent is not None:
        if isinstance(parent.node, ast.If) and "TYPE_CHECKING" in ast.dump(parent.node.test):
            return True
        parent = parent.parent
    return False


def _inside(module: PythonModule, anchor: Statement, offset: int) -> bool:
    node = anchor.scope.node
    return isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.lineno <= module.line_of(offset) <= (
        node.end_lineno or 0
    )


def _past_visible_devices(module: PythonModule, anchor: Statement) -> Statement:
    """torch_npu reads the visible devices when it starts: a module that sets them must have done so before."""
    chosen = anchor
    for statement in module.table.statements[anchor.index + 1 :]:
        if statement.parent is not None or statement.scope is not module.table.module:
            continue
        if isinstance(statement.node, (*FUNCTIONS, ast.ClassDef)):
            break
        text = module.text[module.line_start(statement.first) : module.line_start(statement.last + 1)]
        if VISIBLE.search(text) and "environ" in text and not isinstance(statement.node, ast.If):
            chosen = statement
    return chosen


def _after(module: PythonModule, anchor: Statement, name: str, uses: list[int], *, guarded: bool = False) -> Insertion:
    block = anchor
    while block.parent is not None and isinstance(block.parent.node, (*TRY, ast.ExceptHandler)):
        block = block.parent
        guarded = True
    if anchor.node in getattr(block.node, "body", ()) and _used_on(module, uses, anchor.last + 1, _end(block)):
        return _line(module, anchor.last, _indent(module, anchor.first), name)
    while block.parent is not None and block.parent.shape == "whole":
        block = block.parent
    if _used_on(module, uses, anchor.first, anchor.last) and _may_stand_before(module, anchor):
        return _line(module, block.first - 1, _indent(module, block.first), name)
    indent = _indent(module, block.first if not guarded else block.node.lineno)
    return _line(module, _end(block), indent, name, guarded=guarded)


def _end(block: Statement) -> int:
    return block.node.end_lineno or block.last


def _used_on(module: PythonModule, uses: list[int], first: int, last: int) -> bool:
    return any(first <= module.line_of(use) <= last for use in uses)


def _may_stand_before(module: PythonModule, anchor: Statement) -> bool:
    """Whether the line of an import holds more than it, nothing that must come first, and no test for the import."""
    others = [other.node for other in module.statements_on(module.line_start(anchor.first)) if other is not anchor]
    first = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in others)
    return bool(others) and not first and not any(isinstance(node, (*TRY, ast.ExceptHandler)) for node in others)


def _indent(module: PythonModule, line: int) -> str:
    text = module.text[module.line_start(line) : module.line_start(line + 1)]
    return text[: len(text) - len(text.lstrip(" \t\x0c"))]


def _at_top(module: PythonModule, name: str, *, guarded: bool) -> Insertion:
    """A file that gets its tensors from elsewhere: after the imports it starts with, or after its docstring."""
    last = 0
    for node in module.tree.body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not isinstance(node, (ast.Import, ast.ImportFrom)):
            break
        last = node.end_lineno or node.lineno
    if not last:
        head = re.match(r"(#!.*\n)?(#.*coding[:=].*\n)?", module.text)
        last = module.text.count("\n", 0, head.end()) if head else 0
    return _line(module, last, "", name, guarded=guarded)


def _line(module: PythonModule, last: int, indent: str, name: str, *, guarded: bool = False) -> Insertion:
    """The import on lines of its own after line ``last``."""
    newline = module.source.newline_at(module.line_start(max(last, 1)))
    offset = module.line_start(last + 1)
    lines = [f"import {name}"]
    if guarded:
        lines = ["try:", f"    import {name}", "except ImportError:", "    pass"]
    text = "".join(indent + line + newline for line in lines)
    if offset == len(module.text) and not module.text.endswith(("\n", "\r")) and module.text:
        text = newline + text[: -len(newline)]
    return Insertion(offset, text)
