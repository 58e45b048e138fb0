"""Code that already has a branch for NPUs: its CUDA branch belongs to CUDA.

Only the structure counts (another arm of the same ``if`` chain, or a sibling ``if`` that leaves the block or asks the
same of an NPU; a flag of the same name, or another value, is set for one; an import of ``torch_npu`` has failed). So a
file already migrated by this tool is judged as before.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.trees import children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Statement

# A word of its own, not the end of "input". The look-behind stands last because it is slow where it comes first.
VENDOR = re.compile(
    r"(?:(?:npu|NPU|Npu|mlu|MLU|xpu|XPU|hpu|HPU)(?<![a-zA-Z]...)|(?:musa|MUSA)(?<![a-zA-Z]....))(?![a-zA-Z])"
)
PACKAGE = "torch_npu"
VENDOR_NAMES = ("npu", "mlu", "xpu", "musa", "hpu")
# The backends of other vendors: what ``nccl`` is to CUDA.
COLLECTIVES = re.compile(r"[\"'](hccl|cncl|mccl)[\"']")
_CUDA = re.compile("cuda", re.IGNORECASE)
DEVICE_VALUE = re.compile(r"""["'](npu|mlu|xpu|musa|hpu)(:\d+)?["']|\.(npu|mlu|xpu|musa|hpu)\b""")
COLLECTIONS = (ast.List, ast.Tuple, ast.Set)
ALTERNATIVES = (ast.IfExp, ast.BoolOp, ast.Dict, *COLLECTIONS)
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def vendor_branch(module: PythonModule, offset: int) -> str | None:
    """The text that makes this site the CUDA arm beside another vendor's: a sibling's test or value; else None.

    One that speaks of the NPU wins over one that speaks of others.
    """
    if not module.fact("other vendors", lambda: VENDOR.search(module.text) is not None):
        return None
    found = [*_counterparts(module, offset), *_beside(module, offset)]
    return next((text for text in found if names_npu(text)), found[0] if found else None)


def names_npu(text: str) -> bool:
    """Whether a branch is the NPU's own."""
    return any(match[0].lower() == "npu" for match in VENDOR.finditer(text)) or "hccl" in text.lower()


def _counterparts(module: PythonModule, offset: int) -> Iterator[str]:
    """``npu`` beside the method ``cuda`` of a class, ``to_npu`` beside the function ``to_cuda``."""
    statement = module.statement_at(offset)
    while statement is not None:
        name = getattr(statement.node, "name", None)
        if isinstance(statement.node, (*FUNCTIONS, ast.ClassDef)) and isinstance(name, str):
            other = name.replace("cuda", "npu").replace("CUDA", "NPU").replace("Cuda", "Npu")
            if other != name and other in statement.scope.bindings:
                yield other
        statement = statement.parent


def _beside(module: PythonModule, offset: int) -> Iterator[str]:
    statement = module.statement_at(offset)
    if statement is not None:
        yield from _sibling_values(module, statement, offset)
        yield from _sibling_flags(module, statement)
        yield from _overridden(module, statement)
    child: ast.AST | None = None
    while statement is not None:
        yield from _sibling_tests(module, statement)
        yield from _test_of_if_before(module, statement, child)
        yield from _failed_import(module, statement)
        if isinstance(statement.node, (*FUNCTIONS, ast.ClassDef)):
            yield from _sibling_method(statement)
            return
        child, statement = statement.node, statement.parent


def _sibling_method(statement: Statement) -> Iterator[str]:
    """``def npu`` or ``def mlu`` in the class of a ``def cuda``: the method of this name is the CUDA one."""
    if getattr(statement.node, "name", "") == "cuda" and statement.scope.is_class:
        yield from (f"def {name}" for name in VENDOR_NAMES if name in statement.scope.bindings)


def _test_of_if_before(module: PythonModule, statement: Statement, child: ast.AST | None) -> Iterator[str]:
    """``child`` stands under the ``else`` of a test for another vendor."""
    node = statement.node
    if isinstance(node, ast.If) and child in node.orelse and _about_vendor(module, node.test):
        yield _text(module, node.test)


def _sibling_flags(module: PythonModule, statement: Statement) -> Iterator[str]:
    """``is_npu`` for the statement that sets ``is_cuda``, where the same block sets both."""
    own = _flag(module, statement.node)
    if "cuda" not in own.lower() or VENDOR.search(own):
        return
    for node in _block(module, statement):
        other = _flag(module, node)
        if VENDOR.search(other) and _CUDA.sub("", own) == VENDOR.sub("", other):
            yield other


def _overridden(module: PythonModule, statement: Statement) -> Iterator[str]:
    """``if is_npu: kind = "npu"`` behind ``kind = "cuda"``: the default of all but the NPU."""
    own, block = _flag(module, statement.node), _block(module, statement)
    if not own:
        return
    for node in block[block.index(statement.node) + 1 :]:  # type: ignore[arg-type]  # it stands in its own block
        if _flag(module, node) == own:
            return
        test = node.test if isinstance(node, ast.If) and any(_flag(module, one) == own for one in node.body) else None
        if test is not None and _about_vendor(module, test) and names_npu(_text(module, test)):
            yield _text(module, test)


def _failed_import(module: PythonModule, statement: Statement) -> Iterator[str]:
    """``import torch_npu`` in the ``try`` of an ``except``: there is no NPU where the statement runs."""
    if not isinstance(statement.node, ast.ExceptHandler) or statement.parent is None:
        return
    for node in getattr(statement.parent.node, "body", ()):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if any(name.partition(".")[0] == PACKAGE for name in [*names, getattr(node, "module", None) or ""]):
            yield module.text[slice(*module.range_of(node))]


def _flag(module: PythonModule, node: ast.AST) -> str:
    """What a statement sets, where that is one name or attribute."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    return _text(module, target) if isinstance(target, (ast.Name, ast.Attribute)) else ""


def _sibling_values(module: PythonModule, statement: Statement, offset: int) -> Iterator[str]:
    """The other arm or element of ``"npu" if has_npu() else "cuda"``, ``("cuda", "npu")``, ``a.cuda() or a.npu()``."""
    if VENDOR.search(module.text, module.line_start(statement.first), module.line_start(statement.last + 1)) is None:
        return
    node: ast.AST | None = statement.node
    while node is not None:
        within, others = _split(module, node, offset)
        pattern = VENDOR if isinstance(node, ast.IfExp) else DEVICE_VALUE
        if isinstance(within, ast.Call) and isinstance(node, COLLECTIONS):
            others = [
                o for o in others if isinstance(o, ast.Call) and _text(module, o.func) == _text(module, within.func)
            ]
        if within is not None and isinstance(node, ALTERNATIVES):
            yield from (text for text in (_text(module, other) for other in others) if pattern.search(text))
        node = within


def _split(module: PythonModule, node: ast.AST, offset: int) -> tuple[ast.AST | None, list[ast.expr]]:
    """The child that contains the offset, and the expressions beside it."""
    within, others = None, []
    for child in children(node):
        if isinstance(child, ast.stmt) or not hasattr(child, "lineno"):
            continue
        start, end = module.range_of(child)
        if start <= offset < end:
            within = child
        elif isinstance(child, ast.expr):
            others.append(child)
    return within, others


def _sibling_tests(module: PythonModule, statement: Statement) -> Iterator[str]:
    if not isinstance(statement.node, ast.If) or not _about_cuda(module, statement.node.test):
        return
    for other in [*_chain(statement), *_leaving_siblings(module, statement), *_twins(module, statement)]:
        if other is not statement.node and _about_vendor(module, other.test):
            yield _text(module, other.test)


def _chain(statement: Statement) -> Iterator[ast.If]:
    """All arms of the ``if``/``elif`` chain."""
    top = statement
    while top.parent is not None and isinstance(top.parent.node, ast.If) and top.parent.node.orelse == [top.node]:
        top = top.parent
    arm: ast.stmt | None = top.node  # type: ignore[assignment]
    while isinstance(arm, ast.If):
        yield arm
        arm = arm.orelse[0] if len(arm.orelse) == 1 else None


def _leaving_siblings(module: PythonModule, statement: Statement) -> Iterator[ast.If]:
    """``if`` statements of the same block that all leave it: alternatives written one below the other."""
    if _leaves(statement.node):
        yield from (node for node in _block(module, statement) if isinstance(node, ast.If) and _leaves(node))


def _twins(module: PythonModule, statement: Statement) -> Iterator[ast.If]:
    """``if kind == "npu":`` in the block of an ``if kind == "cuda":``."""
    tests = [(node, _text(module, node.test)) for node in _block(module, statement) if isinstance(node, ast.If)]
    own = next((_CUDA.sub("", test) for node, test in tests if node is statement.node), None)
    yield from (node for node, test in tests if VENDOR.sub("", test) == own)


def _block(module: PythonModule, statement: Statement) -> list[ast.stmt]:
    """The statements among which this one stands."""
    owner = statement.parent.node if statement.parent is not None else module.tree
    blocks = (getattr(owner, name, None) for name in ("body", "orelse", "finalbody"))
    return next((block for block in blocks if isinstance(block, list) and statement.node in block), [])


def _leaves(node: ast.AST) -> bool:
    body: list[ast.stmt] = getattr(node, "body", [])
    return bool(body) and isinstance(body[-1], LEAVES)


def _about_cuda(module: PythonModule, test: ast.expr) -> bool:
    text = _text(module, test).lower()
    return ("cuda" in text or "gpu" in text or "nccl" in text) and VENDOR.search(text) is None


def _about_vendor(module: PythonModule, test: ast.expr) -> bool:
    text = _text(module, test)
    return (VENDOR.search(text) or COLLECTIVES.search(text)) is not None and not _CUDA.search(text)


def _text(module: PythonModule, node: ast.expr) -> str:
    start, end = module.range_of(node)
    return module.text[start:end]
