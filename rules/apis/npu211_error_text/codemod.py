"""``"CUDA out of memory" in str(error)``: what a program does about an error must still happen."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.trees import walk
from npu_migrate.values.arguments import last_name

if TYPE_CHECKING:
    import libcst as cst

    from npu_migrate.engine.module import PythonModule

OLD, NEW = "CUDA out of memory", "NPU out of memory"
OTHERS = ("CUDA error", "CUDNN_STATUS", "CUBLAS_STATUS", "NCCL error")
TESTS = frozenset("startswith endswith find index count search match fullmatch findall compile raises warns".split())


class ErrorText(Rule):
    """Looks at strings that an error's text is compared with; texts that are only shown are nobody's business."""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        found = next((text for text in (OLD, *OTHERS) if text in original.value), None)
        twin = self.expression(original) if found is not None else None
        if found is None or twin is None or not _is_tested(self.module, twin):
            return updated
        if found != OLD:
            self.report(original, Status.MANUAL, "other", text=self.work.code(original))
            return updated
        return self.rewrite(original, updated, updated.with_changes(value=updated.value.replace(OLD, NEW)), "memory")


def _is_tested(module: PythonModule, node: ast.expr) -> bool:
    """Whether a text is looked for by itself, or as one of a list of texts."""
    above = module.parent(node)
    if isinstance(above, ast.Compare):
        return True
    if isinstance(above, ast.keyword):
        return above.arg == "match"
    if isinstance(above, ast.Call):
        return last_name(above.func) in TESTS and node in above.args
    if isinstance(above, (ast.List, ast.Tuple, ast.Set)):
        return _is_tested(module, above) or _each_is_tested(module, above)
    return False


def _each_is_tested(module: PythonModule, texts: ast.expr) -> bool:
    """``any(text in str(error) for text in texts)``."""
    above = module.parent(texts)
    names = [target.id for target in getattr(above, "targets", ()) if isinstance(target, ast.Name)]
    scope = module.scope_at(module.range_of(texts)[0])
    for node in walk(scope.node):
        if isinstance(node, (ast.comprehension, ast.For)) and (
            node.iter is texts or (isinstance(node.iter, ast.Name) and node.iter.id in names)
        ):
            return any(_tests(other, node.target) for other in walk(scope.node))
    return False


def _tests(node: ast.AST, target: ast.expr) -> bool:
    left = node.left if isinstance(node, ast.Compare) else None
    return isinstance(left, ast.Name) and isinstance(target, ast.Name) and left.id == target.id
