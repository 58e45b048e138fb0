"""A recurrent layer in a file that has convolutions too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status

if TYPE_CHECKING:
    import ast

    from npu_migrate.target import Target

RECURRENT = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
CONVOLUTIONS = ("Conv1d(", "Conv2d(", "Conv3d(")


class CombinedEnable(Inspector):
    """Speaks once a file, at the first such layer."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # the same for every release
        return frozenset({"LSTM(", "GRU(", "RNN("})

    @classmethod
    def opening(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # no file is read for this alone
        return frozenset()

    def visit(self, node: ast.expr) -> None:
        name = self.qualified_name(node)
        if name not in RECURRENT or not any(word in self.module.text for word in CONVOLUTIONS):
            return
        first = self.module.fact("first recurrent layer", lambda: node)
        if first is node:
            self.report(node, Status.ADVICE, "mixed", symbol=name, name=name)
