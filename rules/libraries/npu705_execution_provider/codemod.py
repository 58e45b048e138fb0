"""Strings that choose ONNX Runtime's CUDA provider are named."""

from __future__ import annotations

import ast
import re

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import callers, is_message, last_name

PROVIDERS = {"CUDAExecutionProvider", "ROCMExecutionProvider", "TensorrtExecutionProvider"}
OURS = "CANNExecutionProvider"

PACKAGE = re.compile(r"onnxruntime-gpu(?![\w-])")


class ExecutionProvider(Rule):
    """Looks at strings that are the name of a provider from end to end."""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        provider = original.raw_value
        if provider not in PROVIDERS and PACKAGE.match(provider) is None:
            return updated
        twin = self.expression(original)
        if provider not in PROVIDERS:
            return self._package(original, updated, twin)
        above = self.work.module.parent(twin) if twin is not None else None
        if isinstance(above, (ast.List, ast.Tuple)) and any(getattr(one, "value", "") == OURS for one in above.elts):
            self.report(original, Status.KEPT, "beside", symbol=provider, provider=provider)
        elif not isinstance(above, ast.Expr):
            self.report(original, Status.MANUAL, "provider", symbol=provider, provider=provider)
        return updated

    def _package(
        self, original: cst.SimpleString, updated: cst.SimpleString, twin: ast.expr | None
    ) -> cst.SimpleString:
        """``pip install onnxruntime-gpu`` from a program; what stands in the call of ``setup`` is another rule's."""
        calls = callers(self.module, twin) if twin is not None else []
        if twin is None or isinstance(self.parent, cst.Expr) or any(last_name(call.func) == "setup" for call in calls):
            return updated
        status, key = (Status.KEPT, "text") if is_message(self.module, twin) else (Status.MANUAL, "package")
        self.report(original, status, key, symbol="onnxruntime-gpu")
        return updated
