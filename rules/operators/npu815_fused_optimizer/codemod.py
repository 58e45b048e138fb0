"""Fused optimizers are checked against the release; what is for CUDA only is pointed at."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.target import OpStatus


class FusedOptimizer(Rule):
    """Looks at keywords of calls, and at strings that are an optimizer's name."""

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        keyword = original.keyword.value if original.keyword is not None else ""
        if keyword not in ("fused", "tf32") or self.work.code(original.value) != "True":
            return updated
        call = self.parent
        name = self.qualified_name(call.func) if isinstance(call, cst.Call) else None
        if keyword == "tf32":
            self.report(original, Status.MANUAL, "tf32")
        elif name is not None and name in self.table["fused"]:
            self._judge(original, name)
        elif isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value == "dict":
            self.report(original, Status.ADVICE, "options")
        return updated

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        instead = self.table["names"].get(original.raw_value)
        twin = self.expression(original)
        if instead is not None and twin is not None and not isinstance(self.work.module.parent(twin), ast.Expr):
            self.report(original, Status.MANUAL, "optim", name=self.work.code(original), instead=instead)
        return updated

    def _judge(self, original: cst.Arg, name: str) -> None:
        operator, ours = self.table["fused"][name]
        plain = self.target.operator(operator)
        native = plain is not None and plain.worst not in (OpStatus.MISSING, OpStatus.CPU_FALLBACK)
        status, key = (Status.ADVICE, "native") if native else (Status.MANUAL, "missing")
        release = self.target.torch_npu
        self.report(original, status, key, symbol=name, operator=operator, ours=ours, release=release)
