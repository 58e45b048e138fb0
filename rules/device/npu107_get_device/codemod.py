"""``x.get_device()`` works as it is."""

from __future__ import annotations

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.values.classes import OwnClasses

ACCELERATOR = (2, 5, 1)


class GetDevice(Rule):
    """Reports the method, called or handed on."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        if original.attr.value != "get_device":
            return updated
        symbol = self.qualified_name(original) or ""
        if symbol != "torch.Tensor.get_device" and (symbol or not self._is_asked(original)):
            return updated
        name = self.work.code(original)
        if tuple(int(part) for part in self.target.torch.split(".")[:3]) >= ACCELERATOR:
            self.report(original, Status.KEPT, "works", at=original.attr, symbol=symbol, name=name)
        else:
            torch = self.target.torch
            self.report(original, Status.ADVICE, "index", at=original.attr, symbol=symbol, name=name, torch=torch)
        return updated

    def _is_asked(self, original: cst.Attribute) -> bool:
        """Called without arguments on what is no object of the program's own."""
        call = self.parent
        twin = self.expression(original.value)
        own = OwnClasses.of(self.work.module, "get_device")
        return isinstance(call, cst.Call) and call.func is original and not call.args and not (twin and own.has(twin))
