"""``torch.amp.custom_fwd`` and ``custom_bwd``: the device they act for, and the releases that have them."""

from __future__ import annotations

import libcst as cst

from npu_migrate.calls import keyword_of
from npu_migrate.renames import version
from npu_migrate.rule import Rule, Status

NAMES = frozenset(f"torch.amp{module}.custom_{way}" for module in ("", ".autocast_mode") for way in ("fwd", "bwd"))
FIRST = (2, 4)  # the release in which these names came


class CustomFwd(Rule):
    """Points at a missing device type; the string itself is NPU102's."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._judge(original, updated)

    def _judge(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        if self.is_part_of_name(original):
            return updated
        name = self.qualified_name(original) or ""
        if name not in NAMES:
            return updated
        short = name.rpartition(".")[2]
        if version(self.target) < FIRST:
            self.report(original, Status.MANUAL, "older", symbol=name, name=name, short=short, torch=self.target.torch)
        elif not self._names_device():
            self.report(original, Status.MANUAL, "device-type", symbol=name, name=name)
        return updated

    def _names_device(self) -> bool:
        """Whether the call (or ``functools.partial``) around the name says for which device."""
        call = self.parent
        if isinstance(call, cst.Arg):
            call = self.work.stack[-2] if len(self.work.stack) > 1 else None
        return isinstance(call, cst.Call) and (
            keyword_of(call, "device_type") is not None or any(arg.star for arg in call.args)
        )
