"""``torch.random.fork_rng()`` saves the state of CUDA generators unless it is told of another device."""

from __future__ import annotations

import libcst as cst

from npu_migrate.calls import keyword_of, with_keyword
from npu_migrate.renames import version
from npu_migrate.rule import Rule, Status

NAME = "torch.random.fork_rng"
FIRST = (2, 1)  # the release in which device_type came
POSITIONS = 4  # parameters before device_type


class Rng(Rule):
    """Names the NPU as the device whose generators are saved."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        if self.qualified_name(original.func) != NAME or self._names_device(original):
            return updated
        if any(arg.star for arg in original.args) or version(self.target) < FIRST:
            self.report(original.func, Status.MANUAL, "by-hand", symbol=NAME)
            return updated
        new = with_keyword(updated, "device_type", "npu")
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, new, "device-type", claims=original.func, symbol=NAME)

    def _names_device(self, call: cst.Call) -> bool:
        """Whether the device is given, or there is none to save."""
        if keyword_of(call, "device_type") is not None or len(call.args) > POSITIONS:
            return True
        first = call.args[0] if call.args and call.args[0].keyword is None else None
        devices = keyword_of(call, "devices") or first
        given = devices.value if devices is not None else None
        return isinstance(given, (cst.List, cst.Tuple)) and not given.elements
