"""``torch.random.fork_rng()`` saves the state of CUDA generators unless it is told of another device."""

from __future__ import annotations

import libcst as cst

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
        return self.rewrite(original, updated, new, "device-type", at=original.func, symbol=NAME)

    def _names_device(self, call: cst.Call) -> bool:
        """Whether the device is given, or there is none to save."""
        for index, arg in enumerate(call.args):
            name = arg.keyword.value if arg.keyword is not None else ""
            if name == "device_type" or index >= POSITIONS:
                return True
            if (name == "devices" or (index == 0 and not name)) and isinstance(arg.value, (cst.List, cst.Tuple)):
                return not arg.value.elements
        return False


def with_keyword(call: cst.Call, name: str, value: str) -> cst.Call:
    """The call with one more keyword argument, in the style of those before it."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    added = cst.Arg(cst.SimpleString(f'"{value}"'), keyword=cst.Name(name), equal=equal)
    if not call.args:
        return call.with_changes(args=[added])
    *before, last = call.args
    if isinstance(last.comma, cst.Comma):
        before_last = before[-1].comma if before else cst.MaybeSentinel.DEFAULT
        between = before_last if isinstance(before_last, cst.Comma) else cst.Comma(cst.SimpleWhitespace(" "))
        return call.with_changes(args=[*before, last.with_changes(comma=between), added.with_changes(comma=last.comma)])
    between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    spaced = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(args=[*before, spaced, added.with_changes(whitespace_after_arg=last.whitespace_after_arg)])
