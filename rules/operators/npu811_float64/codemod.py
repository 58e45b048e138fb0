"""float64 tensors on the accelerator are pointed at."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.dtypes import converted_on_device, dtype_on_device, is_on_device

if TYPE_CHECKING:
    import libcst as cst

DEVICES = {"cuda", "npu"}


class Float64(Rule):
    """Speaks where the dtype and the device stand in one expression."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        twin = self.expression(original)
        if not isinstance(twin, ast.Call):
            return updated
        found = dtype_on_device(self.module, twin) or converted_on_device(self.module, twin)
        if found is not None and found[1] == "float64":
            self.report(original, Status.ADVICE, "float64", at=found[0], symbol="torch.float64", dtype="float64")
        elif _method(twin) == "double" and not twin.args and self._is_on_device(twin):
            self.report(original, Status.ADVICE, "float64", symbol="torch.Tensor.double", dtype="float64")
        return updated

    def _is_on_device(self, twin: ast.Call) -> bool:
        """``x.cuda().double()`` and ``x.double().cuda()``."""
        owner = twin.func.value if isinstance(twin.func, ast.Attribute) else None
        above = self.work.module.parent(twin)
        after = above.attr if isinstance(above, ast.Attribute) else ""
        return is_on_device(self.module, owner) or after in DEVICES


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
