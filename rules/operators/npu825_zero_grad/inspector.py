"""Gradients that are filled with zeros, where the target's PyTorch does so by default."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status
from npu_migrate.renames import version

if TYPE_CHECKING:
    from npu_migrate.target import Target

NONE_BY_DEFAULT = (2, 0)


class ZeroGrad(Inspector):
    """Speaks once a file."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # a release is asked for each call
        return frozenset({"zero_grad("})

    @classmethod
    def opening(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # no file is read for this alone
        return frozenset()

    def visit(self, node: ast.expr) -> None:
        if version(self.target) >= NONE_BY_DEFAULT or not isinstance(node, ast.Call) or node.args or node.keywords:
            return
        if self.module.fact("first zero_grad", lambda: node) is node:
            self.report(node, Status.ADVICE, "fills", symbol="torch.optim.Optimizer.zero_grad", torch=self.target.torch)
