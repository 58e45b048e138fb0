"""Functions that run in threads of their own should choose their card."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.rule import Rule, Status
from npu_migrate.trees import walk
from npu_migrate.values.arguments import argument, name_of
from npu_migrate.values.devices import is_device_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst as cst

    from npu_migrate.engine.module import PythonModule

THREAD = "threading.Thread"
MOVES = {"cuda", "npu"}
ASKS = {"is_available", "device_count"}


class Threads(Rule):
    """Follows ``target=`` to a function of the file."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        if self.qualified_name(original.func) == THREAD:
            module = self.work.module
            started = module.fact("functions in threads", lambda: dict(_started(module)))
            twin = self.expression(original)
            function = started.get(twin) if twin is not None else None
            if function is not None:
                self._judge(original, function)
        return updated

    def leave_ClassDef(self, original: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:
        if not any(self.qualified_name(base.value) == THREAD for base in original.bases):
            return updated
        for binding in self.work.scope_of(original).bindings.get(original.name.value, ()):
            body = binding.node.body if isinstance(binding.node, ast.ClassDef) else []
            for function in body:
                if isinstance(function, FUNCTIONS) and function.name == "run":
                    self._judge(original, function)
        return updated

    def _judge(self, original: cst.CSTNode, function: ast.AST) -> None:
        nodes = list(walk(function))
        if any(isinstance(node, ast.Attribute) and node.attr in ("set_device", "device_index") for node in nodes):
            return
        uses = [node for node in nodes if isinstance(node, ast.expr) and _uses_device(node)]
        if uses:
            first = min(uses, key=lambda node: (node.lineno, node.col_offset))
            self.report(original, Status.ADVICE, "set-device", at=first, function=function.name)  # type: ignore[attr-defined]


def _started(module: PythonModule) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The first call that starts each function of the file in a thread, with the function."""
    seen: set[ast.AST] = set()
    for node in walk(module.tree):
        if isinstance(node, ast.Call) and name_of(module, node.func) == THREAD:
            function = _function(module, argument(node, "target", 1))
            if function is not None and function not in seen:
                seen.add(function)
                yield node, function


def _function(module: PythonModule, target: ast.expr | None) -> ast.AST | None:
    parts = dotted(target)
    if parts is None or target is None:
        return None
    statement = module.statement_at(module.range_of(target)[0])
    if parts[0] == "self":
        while statement is not None and not isinstance(statement.node, ast.ClassDef):
            statement = statement.parent
        scope = module.table.scopes.get(statement.node) if statement is not None else None
    else:
        scope = module.names.binding_scope(parts[0], statement.scope) if statement is not None else None
    bindings = scope.bindings.get(parts[-1], []) if scope is not None else []
    return next((b.node for b in bindings if b.kind == "def"), None)


def _uses_device(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        parts = dotted(node.func) or []
        on_device = parts[:1] == ["torch"] and len(parts) > 2 and parts[1] in MOVES  # noqa: PLR2004  # torch.cuda.x
        return (on_device and parts[-1] not in ASKS) or (node.func.attr in MOVES and parts[:1] != ["torch"])
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return is_device_text(node.value) or is_device_text(node.value.replace("npu", "cuda", 1))
