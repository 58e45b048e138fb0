"""``torch.amp.GradScaler()`` scales for CUDA unless it is told of another device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.calls import keyword_of, with_keyword
from npu_migrate.renames import version
from npu_migrate.rule import Rule, Status

if TYPE_CHECKING:
    import libcst as cst

NAMES = frozenset(["torch.amp.GradScaler", "torch.amp.grad_scaler.GradScaler", "torch.GradScaler"])
FIRST = (2, 3)  # the release in which these names came


class GradScaler(Rule):
    """Names the NPU where the default is meant."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        name = self.qualified_name(original.func) or ""
        if name not in NAMES:
            return updated
        if version(self.target) < FIRST:
            self.report(original.func, Status.MANUAL, "older", symbol=name, name=name, torch=self.target.torch)
            return updated
        if any(arg.keyword is None and not arg.star for arg in original.args) or keyword_of(original, "device"):
            return updated
        if any(arg.star for arg in original.args):
            self.report(original.func, Status.MANUAL, "by-hand", symbol=name, name=name)
            return updated
        new = with_keyword(updated, "device", "npu")
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, new, "device", claims=original.func, symbol=name, name=name)
