"""Conversions to channels_last are pointed at."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import last_name

if TYPE_CHECKING:
    import libcst as cst

FORMATS = {"torch.channels_last", "torch.channels_last_3d"}


class ChannelsLast(Rule):
    """Looks at the value of ``memory_format=``."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        self._judge(original)
        return updated

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        self._judge(original)
        return updated

    def _judge(self, original: cst.Attribute | cst.Name) -> None:
        if self.is_part_of_name(original):
            return
        name = self.qualified_name(original)
        if name is not None and name in FORMATS and self._is_given(original):
            here = self.work.range_of(original)[0]
            first = self.work.module.fact(self.info.code, lambda: here)
            status, key = (Status.ADVICE, "advice") if first == here else (Status.KEPT, "again")
            self.report(original, status, key, symbol=name)

    def _is_given(self, original: cst.BaseExpression) -> bool:
        node: ast.AST | None = self.expression(original)
        above = self.work.module.parent(node) if node is not None else None
        while isinstance(above, ast.IfExp):
            above = self.work.module.parent(above)
        call = self.work.module.parent(above) if isinstance(above, ast.keyword) else None
        if not isinstance(above, ast.keyword) or not isinstance(call, ast.Call):
            return False
        return above.arg == "memory_format" and last_name(call.func) != "is_contiguous"
