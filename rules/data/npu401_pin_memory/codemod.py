"""``DataLoader(pin_memory=True)`` and ``tensor.pin_memory()``: for which device memory is pinned."""

from __future__ import annotations

import libcst as cst

from npu_migrate.calls import keyword_of
from npu_migrate.renames import version
from npu_migrate.rule import Rule, Status, dotted

LOADER = "torch.utils.data.DataLoader"
NAMED = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
BY_ITSELF = (2, 8)  # PyTorch pins for the accelerator it finds
BY_DEVICE = (2, 1)  # torch_npu pins where it is told the device


class PinMemory(Rule):
    """Says what pinned memory needs in the target release."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        func = original.func
        if isinstance(func, cst.Attribute) and func.attr.value == "pin_memory":
            if not original.args and self.qualified_name(func) is None:
                self._say(func.attr, "tensor")
            return updated
        pin = keyword_of(original, "pin_memory")
        if pin is None or pin.keyword is None or not self._is_loader(func) or self.work.code(pin.value) == "False":
            return updated
        if keyword_of(original, "pin_memory_device") is None and not any(arg.star for arg in original.args):
            self._say(pin.keyword, "loader")
        return updated

    def _is_loader(self, func: cst.BaseExpression) -> bool:
        """PyTorch's own class, or one that is called like a child of it."""
        parts = dotted(func) or [""]
        return self.qualified_name(func) in NAMED or parts[-1].endswith("DataLoader")

    def _say(self, at: cst.CSTNode, what: str) -> None:
        torch = version(self.target)
        if torch >= BY_ITSELF:
            self.report(at, Status.KEPT, "by-itself", symbol=LOADER, torch=self.target.torch)
        elif torch >= BY_DEVICE:
            self.report(at, Status.ADVICE, what, symbol=LOADER, release=self.target.torch_npu)
        else:
            self.report(at, Status.ADVICE, "off", symbol=LOADER, release=self.target.torch_npu)
