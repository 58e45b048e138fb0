"""How a file can name what it needs, with the imports that it has."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Scope

_OPENING = re.compile(r"\(\s*(?:#[^\n]*\n\s*)*")
PREFIXES = {"torch.nn.functional": "", "torch.nn": "functional.", "torch": "nn.functional."}
LAYERS = {"torch.nn": "", "torch": "nn."}


def functional(module: PythonModule, scope: Scope, name: str) -> str | None:
    """``F.silu``, ``nn.functional.silu`` or ``torch.nn.functional.silu``; None where the file imports none of these."""
    return _spelled(module, scope, PREFIXES, name)


def layer(module: PythonModule, scope: Scope, name: str) -> str | None:
    """``nn.Conv2d`` or ``torch.nn.Conv2d``; None where the file imports neither."""
    return _spelled(module, scope, LAYERS, name)


def beginning(module: PythonModule, node: ast.expr) -> int:
    """Where an expression begins for LibCST, to which the parentheses of a tuple are no part of it."""
    start, _ = module.range_of(node)
    opened = _OPENING.match(module.text, start) if isinstance(node, ast.Tuple) else None
    return opened.end() if opened else start


def _spelled(module: PythonModule, scope: Scope, prefixes: dict[str, str], name: str) -> str | None:
    found: dict[str, str] = {}
    current: Scope | None = scope
    while current is not None:
        for bound, bindings in current.bindings.items():
            if all(b.kind == "import" for b in bindings):
                known = module.names.meaning([bound], scope).name
                if known in prefixes:
                    found.setdefault(known, bound)
        current = current.parent
    return next((f"{found[known]}.{rest}{name}" for known, rest in prefixes.items() if known in found), None)
