"""Kernels of Numba, CuPy and PyCUDA are named where they are made; DLPack where tensors are handed over."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status

if TYPE_CHECKING:
    import libcst as cst


class CudaKernels(Rule):
    """Looks names up in the table."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        self._judge(original, original.attr)
        return updated

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        self._judge(original, original)
        return updated

    def _judge(self, original: cst.Attribute | cst.Name, place: cst.Name) -> None:
        if self.is_part_of_name(original):
            return
        name = self.qualified_name(original)
        if name in self.table["kernels"]:
            self.report(
                original, Status.UNSUPPORTED, "kernel", at=place, symbol=name or "", name=self.work.code(original)
            )
        elif name in self.table["dlpack"] and not self._is_on_cpu(original):
            self.report(original, Status.ADVICE, "dlpack", symbol=name or "", name=name or "")

    def _is_on_cpu(self, original: cst.BaseExpression) -> bool:
        twin = self.expression(original)
        call = self.work.module.parent(twin) if twin is not None else None
        return isinstance(call, ast.Call) and bool(call.args) and ast.unparse(call.args[0]).endswith(".cpu()")
