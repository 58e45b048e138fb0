"""Code that stands in for a part of PyTorch where PyTorch has none: ``if hasattr(nn, "SiLU"): ... else: ...``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Statement


def is_fallback(module: PythonModule, offset: int, names: Sequence[str]) -> bool:
    """Whether what stands here only runs, or is only chosen, where PyTorch lacks a class or function.

    Args:
        module: the file.
        offset: where in it.
        names: what the class and the function are called, without their module.
    """
    words = "|".join(map(re.escape, names))
    asked = rf"hasattr\(\s*[\w.]+\s*,\s*[\"']({words})[\"']\s*\)"
    statement = module.statement_at(offset)
    while statement is not None:
        if _in_other_arm(module, statement, asked) or _after_failure(module, statement, rf"\b({words})\b"):
            return True
        name = statement.node.name if isinstance(statement.node, (*FUNCTIONS, ast.ClassDef)) else ""
        if name and re.search(rf"{asked}\s+else\s+{re.escape(name)}\b", module.text):
            return True
        statement = statement.parent
    return False


def _in_other_arm(module: PythonModule, statement: Statement, asked: str) -> bool:
    above = statement.parent.node if statement.parent is not None else None
    if not isinstance(above, ast.If):
        return False
    test = module.text[slice(*module.range_of(above.test))]
    return (re.fullmatch(asked, test) is not None and statement.node in above.orelse) or (
        re.fullmatch(rf"not\s+{asked}", test) is not None and statement.node in above.body
    )


def _after_failure(module: PythonModule, statement: Statement, words: str) -> bool:
    """The handler of a ``try`` that imports or names one of them."""
    above = statement.parent.node if statement.parent is not None else None
    if not isinstance(statement.node, ast.ExceptHandler) or above is None:
        return False
    return any(re.search(words, module.text[slice(*module.range_of(one))]) for one in getattr(above, "body", ()))
