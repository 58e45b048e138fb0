"""Unsigned dtypes that no NPU kernel takes are pointed at."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.dtypes import dtype_on_device

if TYPE_CHECKING:
    import libcst as cst

UNSIGNED = {"uint16", "uint32", "uint64"}


class UnsignedDtype(Rule):
    """Speaks where the dtype and the device stand in one call."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        twin = self.expression(original)
        found = dtype_on_device(self.work.module, twin) if isinstance(twin, ast.Call) else None
        if found is not None and found[1] in UNSIGNED:
            place, dtype = found
            self.report(original, Status.UNSUPPORTED, "unsigned", at=place, symbol=f"torch.{dtype}", dtype=dtype)
        return updated
