"""Calls whose operator the target release has no kernel for, or that Huawei's documents deny."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status
from npu_migrate.operators import Kind, interesting, problem_at

if TYPE_CHECKING:
    import ast

    from npu_migrate.target import Target

STATUSES = {Kind.MISSING: Status.UNSUPPORTED, Kind.DOCUMENTED: Status.MANUAL, Kind.DENIED: Status.MANUAL}


class MissingOperator(Inspector):
    """NPU801."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:
        """Whatever the release has something to say about."""
        return interesting(target)

    def visit(self, node: ast.expr) -> None:
        """Report what fails, and what is only said to."""
        found = problem_at(self.work, node)
        if found is not None and found.kind in STATUSES:
            facts = {**found.facts, "release": self.target.torch_npu}
            self.report(node, STATUSES[found.kind], found.key, symbol=found.use.name, **facts)
