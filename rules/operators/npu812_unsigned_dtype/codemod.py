"""Unsigned dtypes that no NPU kernel takes are pointed at."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.values.dtypes import converted_on_device, dtype_on_device, moved

UNSIGNED = {"uint16", "uint32", "uint64"}


class UnsignedDtype(Rule):
    """Speaks where the dtype and the device stand in one call."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        twin = self.expression(original)
        if not isinstance(twin, ast.Call):
            return updated
        found = dtype_on_device(self.module, twin) or converted_on_device(self.module, twin)
        method = original.func.attr if isinstance(original.func, cst.Attribute) else original.func
        place, dtype = found or (method, moved(self.module, twin))
        if dtype in UNSIGNED:
            self.report(original, Status.UNSUPPORTED, "unsigned", at=place, symbol=f"torch.{dtype}", dtype=dtype)
        return updated
