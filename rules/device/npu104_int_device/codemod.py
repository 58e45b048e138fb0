"""``.to(0)`` -> ``.to("npu:0")``, ``.to(rank)`` -> ``.to(f"npu:{rank}")``."""

from __future__ import annotations

import ast
import re

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.values.numbers import is_int

# Like the patterns of rule.toml: what may stand for a device and be a number.
INDEX = re.compile(
    r"\d+|int\(|[\w.]*(?:(?:rank|gpu|gpu_id|gpu_idx|device_id|device_idx|dev_id)\b(?![.\[])|current_device\()"
)
PLACERS = {"to", "to_empty", "new_empty", "new_full", "new_ones", "new_tensor", "new_zeros"}
ACCELERATOR = (2, 5, 1)


class IntDevice(Rule):
    """Looks at the one argument of a call that is its device."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        index = self._device_argument(original)
        if index is None:
            return updated
        value = original.args[index].value
        old = self.work.code(value)
        if INDEX.match(old) is None:
            return updated
        current = updated.args[index].value
        new = self._spelled(self.work.code(current))
        twin = self.expression(value)
        if new is None or not is_int(self.work.module, twin) or (self._modern and isinstance(twin, ast.Call)):
            self._report(value, old)
            return updated
        args = list(updated.args)
        args[index] = args[index].with_changes(value=new)
        changed = updated.with_changes(args=args)
        self.need_import("torch_npu", original)
        after = self.work.code(new)
        return self.rewrite(original, updated, changed, "renamed", at=value, after=after, new=after, old=old)

    @property
    def _modern(self) -> bool:
        return _version(self.target.torch) >= ACCELERATOR

    def _report(self, value: cst.BaseExpression, old: str) -> None:
        torch = self.target.torch
        if not self._modern:
            self.report(value, Status.MANUAL, "unproven", new=f'f"npu:{{{old}}}"', old=old, torch=torch)
        elif "current_device(" not in old:  # its own rule answers for that name
            self.report(value, Status.KEPT, "current", old=old, torch=torch)

    def _device_argument(self, call: cst.Call) -> int | None:
        """The place of the argument that is a device: by its keyword, or the first of ``.to`` and ``torch.device``."""
        func = call.func
        method = func.attr.value if isinstance(func, cst.Attribute) else ""
        for index, argument in enumerate(call.args):
            keyword = argument.keyword.value if argument.keyword is not None else ""
            if keyword == "map_location" or (keyword == "device" and (method in PLACERS or self._is_torch(call))):
                return index
        first = call.args[0] if call.args else None
        if first is None or first.keyword is not None or first.star:
            return None
        if method == "to" or (len(call.args) == 1 and self.qualified_name(func) == "torch.device"):
            return 0
        return None

    def _is_torch(self, call: cst.Call) -> bool:
        return (self.qualified_name(call.func) or "").startswith("torch.")

    def _spelled(self, code: str) -> cst.BaseExpression | None:
        """The device as a string; None where it cannot be written into an f-string here."""
        if code.isdigit():
            text = f'"npu:{int(code)}"'
        else:
            quote = "'" if '"' in code else '"'
            text = f"f{quote}npu:{{{code}}}{quote}"
            if quote in code or not code.isprintable() or "\\" in code or "#" in code:
                return None
        if any(isinstance(node, cst.FormattedString) for node in self.work.stack):
            return None
        return cst.parse_expression(text)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3])
