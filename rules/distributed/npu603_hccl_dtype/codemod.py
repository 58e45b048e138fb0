"""Reductions over bool, uint8 and float64 are named."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import argument
from npu_migrate.values.dtypes import dtype_of

if TYPE_CHECKING:
    import libcst as cst

# The parameter that holds what is reduced, and its place.
REDUCTIONS = {
    "torch.distributed.all_reduce": ("tensor", 0),
    "torch.distributed.reduce": ("tensor", 0),
    "torch.distributed.reduce_scatter": ("input_list", 1),
    "torch.distributed.reduce_scatter_tensor": ("input", 1),
    "torch.distributed._reduce_scatter_base": ("input", 1),
}
MESSAGES = {"bool": "byte", "uint8": "byte", "float64": "double"}


class HcclDtype(Rule):
    """Speaks only where the dtype is certain."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        name = self.qualified_name(original.func) or ""
        if name not in REDUCTIONS:
            return updated
        twin = self.expression(original)
        tensor = argument(twin, *REDUCTIONS[name]) if isinstance(twin, ast.Call) else None
        one = tensor.elts[0] if isinstance(tensor, (ast.List, ast.Tuple)) and tensor.elts else tensor
        dtype = dtype_of(self.work.module, one) or ""
        if one is not None and dtype in MESSAGES:
            code = ast.unparse(one)
            key = MESSAGES[dtype]
            self.report(original, Status.MANUAL, key, at=original.func, symbol=name, dtype=dtype, tensor=code)
        return updated
