"""Functions of packages that open an autocast for CUDA unless they are told of another device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.calls import keyword_of, with_keyword
from npu_migrate.rule import Rule, Status

if TYPE_CHECKING:
    import libcst as cst

# The name, and how many arguments stand before `device`.
NAMES = {"ultralytics.utils.torch_utils.autocast": 1}


class AutocastDefault(Rule):
    """Names the NPU where the default is meant."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        name = self.qualified_name(original.func) or ""
        before = NAMES.get(name)
        if before is None or keyword_of(original, "device"):
            return updated
        if any(arg.star for arg in original.args):
            self.report(original.func, Status.MANUAL, "by-hand", symbol=name, name=name)
            return updated
        if sum(arg.keyword is None for arg in original.args) > before:
            return updated
        new = with_keyword(updated, "device", "npu")
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, new, "device", claims=original.func, symbol=name, name=name)
