"""A 5x5 convolution -> two 3x3: another function of the same receptive field, for training from scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.structure import kernels, spelling

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.kernels import Conv

KEPT = ("bias", "device", "dtype")


class Conv5x5(Rule):
    """Offers the exchange with what it costs; makes it only where results may change."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for start, _ in kernels.convolutions(module)]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        found = kernels.convolutions(self.work.module).get(self.work.range_of(original))
        sequential = spelling.layer(self.work.module, self.work.scope_of(original), "Sequential") if found else None
        if found is None or sequential is None:
            return updated
        conv = self.work.code(original.func)
        into, out = (self._source(found.arguments[name]) for name in ("in_channels", "out_channels"))
        first, second = self._paddings(found)
        options = "".join(f", {name}={self._source(found.arguments[name])}" for name in KEPT if name in found.arguments)
        options = (f", groups={found.groups}" if found.groups > 1 else "") + options
        stride = f", stride={found.stride}" if found.stride > 1 else ""
        text = (
            f"{sequential}({conv}({into}, {out}, 3{first}{options}), {conv}({out}, {out}, 3{stride}{second}{options}))"
        )
        key, one, two, percent = self._cost(found)
        symbol = "torch.nn.Conv2d"
        if key == "more" or "#" in self._source(found.node):
            status = Status.KEPT if key == "more" else Status.MANUAL
            self.report(original, status, key, symbol=symbol, one=one, two=two, percent=percent)
            return updated
        new = cst.parse_expression(text)
        return self.rewrite(original, updated, new, key, symbol=symbol, one=one, two=two, percent=percent)

    def _cost(self, found: Conv) -> tuple[str, str, str, str]:
        """Which message fits, and the numbers in it."""
        counts = kernels.parameters(found)
        if counts is None:
            return "unknown", "", "", ""
        one, two = counts
        return "fewer" if two < one else "more", f"{one:,}", f"{two:,}", f"{abs(one - two) / one:.0%}"

    def _paddings(self, found: Conv) -> tuple[str, str]:
        """The padding, shared out so that the size of the output stays."""
        if found.padding == "same":
            return ', padding="same"', ', padding="same"'
        first = (int(found.padding) + 1) // 2
        second = int(found.padding) - first
        return f", padding={first}" if first else "", f", padding={second}" if second else ""

    def _source(self, node: ast.expr) -> str:
        start, end = self.work.module.range_of(node)
        return self.work.module.text[start:end]
