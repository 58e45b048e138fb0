"""Operators that only some families of Ascend devices run with the type they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status
from npu_migrate.operators.limits import NAMES, limit_at

if TYPE_CHECKING:
    import ast

    from npu_migrate.target import Target


class DeviceFamily(Inspector):
    """NPU804."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # the words are the same for every release
        """Types."""
        return NAMES

    @classmethod
    def opening(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # as above
        """Types are everywhere, and matter where tensors go to the device."""
        return frozenset()

    def visit(self, node: ast.expr) -> None:
        """A type is asked what takes it."""
        found = limit_at(self.work, node)
        if found is not None and found.families:
            families = ", ".join(found.families)
            facts = {"name": found.use.name, "dtype": found.dtype, "families": families}
            facts["documents"] = found.documented.documents
            self.report(found.node, Status.MANUAL, "dtype", symbol=found.use.name, **facts)
