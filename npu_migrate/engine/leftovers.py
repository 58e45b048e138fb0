"""The audit's other half: every word about CUDA that no rule has answered is named, with what it seems to be.

A report that is silent about a site would be taken for "nothing there".
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from npu_migrate.engine.rules import ROOTS, WORDS
from npu_migrate.literals import occurrences
from npu_migrate.model import Finding, Status, Text
from npu_migrate.names import dotted
from npu_migrate.trees import children
from npu_migrate.values.arguments import is_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Statement
    from npu_migrate.engine.work import Work

CODE = "NPU199"
Range = tuple[int, int]
DEVICE = re.compile(r"cuda(:\d+)?")
NAME = re.compile(r"[^\W\d]\w*")
OPTION = re.compile(r"--[\w-]+[= ](cuda|nccl)(:\d*)?$")
COMMAND = re.compile(r"\b(?:python3?|torchrun|deepspeed|accelerate)\s[^\n]*--[\w-]+[= ](?:cuda|nccl)\b")
# Parts of PyTorch with a sentence of their own.
KNOWN = ("torch.nn.attention.SDPBackend.CUDNN_ATTENTION", "torch.testing._internal.common_cuda")
LOOKS_LIKE_CODE = re.compile(r"torch\.cuda\.\w+\s*\(|\.cuda\(\)|(?:to|device)\(\s*['\"]cuda|import torch\.cuda")


def leftovers(module: PythonModule, work: Work) -> list[Finding]:
    """One finding for each name or string with such a word that no rule spoke about; comments are nobody's."""
    claimed = _Ranges(work.claimed)
    found: dict[Range, Finding] = {}
    trees: dict[int, list[tuple[Range, str, ast.AST]]] = {}
    for start, end in _words(module.text):
        if claimed.cover(start, end):
            continue
        leaves = []
        for statement in module.statements_on(start):
            if statement.index not in trees:
                trees[statement.index] = list(_leaves(module, statement))
            leaves += trees[statement.index]
        leaf = _innermost(leaves, start)
        if leaf is not None and leaf[0] not in found:
            found[leaf[0]] = _finding(module, work, *leaf)
    return list(found.values())


def _words(text: str) -> list[Range]:
    """Where the words stand, in whatever case; a pattern that ignores case takes five times as long."""
    low = text.lower()
    if len(low) != len(text):
        return [match.span() for match in WORDS.finditer(text)]
    return sorted((start, start + len(word)) for word in ROOTS for start in occurrences(low, word))


class _Ranges:
    """Answers whether a stretch lies inside one of several ranges."""

    def __init__(self, ranges: list[Range]) -> None:
        ranges = sorted(ranges)
        self.starts = [start for start, _ in ranges]
        self.farthest = list(accumulate((end for _, end in ranges), max))

    def cover(self, start: int, end: int) -> bool:
        before = bisect_right(self.starts, start)
        return before > 0 and end <= self.farthest[before - 1]


def _leaves(module: PythonModule, statement: Statement) -> Iterator[tuple[Range, str, ast.AST]]:
    """Identifiers and strings of a statement, with the role each plays."""
    stack: list[ast.AST] = [statement.node]
    first = True
    while stack:
        node = stack.pop()
        if not first and isinstance(node, (ast.stmt, ast.ExceptHandler)) and statement.shape != "whole":
            continue
        stack.extend(children(node))
        yield from _own(module, node, statement)
        first = False


def _own(module: PythonModule, node: ast.AST, statement: Statement) -> Iterator[tuple[Range, str, ast.AST]]:
    """The words that belong to a node itself and not to its children."""
    if isinstance(node, ast.Name):
        yield module.range_of(node), "name", node
    elif isinstance(node, ast.Attribute):
        end = module.range_of(node)[1]
        yield (end - len(node.attr), end), "attribute", node
    elif isinstance(node, (ast.JoinedStr, ast.Constant)):
        if isinstance(node, ast.JoinedStr) or isinstance(node.value, (str, bytes)):
            docstring = isinstance(statement.node, ast.Expr) and statement.node.value is node
            yield module.range_of(node), "docstring" if docstring else "string", node
    elif isinstance(node, (ast.arg, ast.keyword)):
        name = node.arg
        if name:
            start = module.source.offset(node.lineno, node.col_offset)
            yield (start, start + len(name)), "parameter", node
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield module.range_of(node), "import", node
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
        yield from _named(module, node, statement)
    elif hasattr(node, "lineno") and type(node).__name__.startswith(("Global", "Nonlocal", "Match")):
        yield module.range_of(node), "name", node


def _named(module: PythonModule, node: ast.AST, statement: Statement) -> Iterator[tuple[Range, str, ast.AST]]:
    """The name after ``def``, ``class`` or ``as``, which ``ast`` gives no place."""
    name = getattr(node, "name", None)
    start = module.source.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
    end = module.line_start(statement.last + 1)
    for match in NAME.finditer(module.text, start, end):
        if match[0] == name:
            yield match.span(), "definition", node
            return


def _innermost(leaves: list[tuple[Range, str, ast.AST]], offset: int) -> tuple[Range, str, ast.AST] | None:
    around = [leaf for leaf in leaves if leaf[0][0] <= offset < leaf[0][1]]
    return min(around, key=lambda leaf: leaf[0][1] - leaf[0][0], default=None)


def _finding(module: PythonModule, work: Work, span: Range, role: str, node: ast.AST) -> Finding:
    before = module.text[span[0] : span[1]]
    status, text = _judge(module, span, role, node)
    first, last = module.line_of(span[0]), module.line_of(span[1])
    if status is not Status.KEPT and work.suppressions.covering(CODE, first, last) is not None:
        status = Status.SUPPRESSED
    return Finding(CODE, module.path, work.span(*span), status, text, before=before)


def _judge(module: PythonModule, span: Range, role: str, node: ast.AST) -> tuple[Status, Text]:
    word = ("word", module.text[span[0] : span[1]])
    if role == "string":
        value = getattr(node, "value", None)
        if isinstance(value, str) and DEVICE.fullmatch(value):
            return Status.MANUAL, Text(CODE, "device-like", (word,))
        if COMMAND.search(module.text, *span) or (isinstance(value, str) and OPTION.match(value)):
            return Status.MANUAL, Text(CODE, "option-in-string", (word,))
        if LOOKS_LIKE_CODE.search(_constant(node) or module.text[span[0] : span[1]]) and not is_message(module, node):
            return Status.MANUAL, Text(CODE, "code-in-string", (word,))
    name, is_imported = _torch_name(module, node)
    if not name:
        return Status.KEPT, Text(CODE, role, (word,))
    if is_imported:
        return Status.KEPT, Text(CODE, "imported", (word, ("name", name)))
    known = next((part for part in KNOWN if f"{name}.".startswith(f"{part}.")), "torch")
    return Status.MANUAL, Text(CODE, known, (word, ("name", name)))


def _constant(node: ast.AST) -> str:
    """What an f-string says by itself: the code in its fields is code."""
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    return " ".join(str(part.value) for part in parts if isinstance(part, ast.Constant))


def _torch_name(module: PythonModule, node: ast.AST) -> tuple[str, bool]:
    """The name of what is a part of PyTorch, and whether an import says all of it; empty for all else."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        below = "" if isinstance(node, ast.Import) else f"{node.module}."
        names = [below + alias.name for alias in node.names] if not getattr(node, "level", 0) else []
        about = (name for name in names if name.startswith("torch.") and WORDS.search(name))
        return next(about, ""), False
    parts = dotted(node)
    if parts is None or not isinstance(getattr(node, "ctx", None), ast.Load):
        return "", False
    meaning = module.names.meaning(parts, module.scope_at(module.range_of(node)[0]))
    is_torch = meaning.name is not None and meaning.name.startswith("torch.")
    return (meaning.name or "", len(parts) == 1) if is_torch else ("", False)
