"""Calls whose operator, or whose gradient's, runs on the CPU in the target release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status
from npu_migrate.operators import Kind, interesting, problem_at

if TYPE_CHECKING:
    import ast

    from npu_migrate.target import Target


KINDS = (Kind.FALLBACK, Kind.BACKWARD, Kind.SAID_TO)


class CpuFallback(Inspector):
    """NPU802."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:
        """Whatever the release has something to say about."""
        return interesting(target)

    def visit(self, node: ast.expr) -> None:
        """Report what is slow although it works."""
        found = problem_at(self.work, node)
        if found is not None and found.kind in KINDS:
            facts = {**found.facts, "release": self.target.torch_npu}
            self.report(node, Status.ADVICE, found.key, symbol=found.use.name, **facts)
