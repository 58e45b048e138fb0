"""nan_to_num into its own input is pointed at."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import argument

if TYPE_CHECKING:
    import libcst as cst


INPLACE = {"torch.nan_to_num": "torch.nan_to_num_()"}


class OutAlias(Rule):
    """Compares ``out=`` with the input, as they are written."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        name = self.qualified_name(original.func)
        twin = self.expression(original)
        if name is None or name not in INPLACE or not isinstance(twin, ast.Call):
            return updated
        source, out = argument(twin, "input", 0), argument(twin, "out")
        if source is not None and out is not None and ast.dump(source) == ast.dump(out):
            code, inplace = ast.unparse(out), INPLACE[name]
            self.report(original.func, Status.ADVICE, "alias", symbol=name, operator=name, out=code, inplace=inplace)
        return updated
