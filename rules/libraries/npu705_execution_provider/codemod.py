"""Strings that choose ONNX Runtime's CUDA provider are named."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status

if TYPE_CHECKING:
    import libcst as cst

PROVIDERS = {"CUDAExecutionProvider", "ROCMExecutionProvider", "TensorrtExecutionProvider"}
OURS = "CANNExecutionProvider"


class ExecutionProvider(Rule):
    """Looks at strings that are the name of a provider from end to end."""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        provider = original.raw_value
        if provider not in PROVIDERS:
            return updated
        twin = self.expression(original)
        above = self.work.module.parent(twin) if twin is not None else None
        if isinstance(above, (ast.List, ast.Tuple)) and any(getattr(one, "value", "") == OURS for one in above.elts):
            self.report(original, Status.KEPT, "beside", symbol=provider, provider=provider)
        elif not isinstance(above, ast.Expr):
            self.report(original, Status.MANUAL, "provider", symbol=provider, provider=provider)
        return updated
