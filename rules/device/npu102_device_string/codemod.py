"""``"cuda"``, ``"cuda:0"``, ``f"cuda:{i}"`` as a device -> the same for ``npu``."""

from __future__ import annotations

from typing import Union

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.values import Kind, Roles
from npu_migrate.values.strings import exchanged, is_device_string, whole_string

Piece = Union[cst.SimpleString, cst.FormattedString]


class DeviceString(Rule):
    """Exchanges the word where the string is used as a device; says why where it is not, or may be."""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_FormattedString(self, original: cst.FormattedString, updated: cst.FormattedString) -> cst.BaseExpression:
        return self._judge(original, updated)

    def _judge(self, original: Piece, updated: Piece) -> Piece:
        if not is_device_string(original):
            return updated
        twin = whole_string(self, original)
        if twin is None:
            return updated
        roles = Roles(self.work.module)
        role = roles.of(twin)
        if role.kind is Kind.DEVICE:
            self.need_import("torch_npu", original, beside_torch=True)
            return self.rewrite(
                original, updated, exchanged(updated), "renamed", used=roles.used(twin), because=role.because
            )
        if role.kind is Kind.UNKNOWN:
            self.report(original, Status.MANUAL, "unknown", text=self.work.code(original))
        elif role.kind is Kind.LIBRARY:
            self.report(original, Status.MANUAL, "library", text=self.work.code(original), library=role.because)
        elif role.kind not in (Kind.TEST, Kind.ATTRIBUTE):
            self.report(original, Status.KEPT, role.kind.value, text=self.work.code(original))
        return updated
