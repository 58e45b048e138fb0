"""``stream.cuda_stream`` -> ``stream.npu_stream``: the handles under PyTorch's streams and events."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.classes import OwnClasses
from npu_migrate.values.objects import is_made_by

if TYPE_CHECKING:
    import libcst as cst

HANDLES = {"cuda_stream": "npu_stream", "cuda_event": "npu_event"}


class RawHandles(Rule):
    """Renames the attribute of what is known to be a stream or event."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        old = original.attr.value
        new = HANDLES.get(old)
        twin = self.expression(original)
        if new is None or not isinstance(twin, ast.Attribute) or self._is_own(twin):
            return updated
        if not is_made_by(self.work.module, twin.value, frozenset(self.table["makers"][old])):
            self.report(original, Status.MANUAL, "unknown", at=original.attr, name=self.work.code(original), new=new)
            return updated
        self.need_import("torch_npu", original)
        renamed = updated.with_changes(attr=updated.attr.with_changes(value=new))
        return self.rewrite(original, updated, renamed, "renamed", at=original.attr, after=new, name=old, new=new)

    def _is_own(self, node: ast.Attribute) -> bool:
        """Whether the program itself gives the attribute to its own object."""
        own = OwnClasses.of(self.work.module, node.attr)
        receiver = node.value
        is_self = isinstance(receiver, ast.Name) and receiver.id in ("self", "cls")
        return is_self or not isinstance(node.ctx, ast.Load) or own.has(receiver)
