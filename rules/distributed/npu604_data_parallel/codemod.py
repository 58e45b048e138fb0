"""``nn.DataParallel`` is named, with the way to ``DistributedDataParallel``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import last_name

if TYPE_CHECKING:
    import libcst as cst

NAMES = {
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.data_parallel",
    "torch.nn.parallel.data_parallel.DataParallel",
    "torch.nn.parallel.data_parallel.data_parallel",
}


class DataParallel(Rule):
    """Looks at names; a comparison of types is no use of them."""

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
        if name not in NAMES:
            return
        twin = self.expression(original)
        if twin is None or not self._is_used(twin):
            return
        if self._goes_to_cpu(twin):
            self.report(original, Status.KEPT, "cpu", symbol=name, name=name)
        else:
            self.report(original, Status.UNSUPPORTED, "unsupported", symbol=name, name=name)

    def _is_used(self, twin: ast.expr) -> bool:
        """Called, inherited from, given another name, or prepared for a call; not compared, listed or registered."""
        above = self.work.module.parent(twin)
        if isinstance(above, ast.Call):
            is_first = above.args[:1] == [twin]
            return above.func is twin or (is_first and last_name(above.func) == "partial")
        return isinstance(above, ast.ClassDef) or (isinstance(above, ast.Assign) and above.value is twin)

    def _goes_to_cpu(self, twin: ast.expr) -> bool:
        """``nn.DataParallel(model).cpu()``."""
        call = self.work.module.parent(twin)
        method = self.work.module.parent(call) if isinstance(call, ast.Call) else None
        return isinstance(method, ast.Attribute) and method.attr == "cpu"
