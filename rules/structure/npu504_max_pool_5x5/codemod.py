"""A stride-1 5x5 max pool -> two 3x3, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Rule
from npu_migrate.structure import kernels, spelling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule


class MaxPool5x5(Rule):
    """Pools that belong to a pyramid are another rule's."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for start, _ in kernels.pools_5x5(module)]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        found = kernels.pools_5x5(self.work.module).get(self.work.range_of(original))
        if found is None:
            return updated
        pool = self.work.code(original.func)
        if found[1] is not None:
            start, end = self.work.module.range_of(found[1])
            text = f"{pool}({pool}({self.work.module.text[start:end]}, 3, 1, 1), 3, 1, 1)"
            symbol = "torch.nn.functional.max_pool2d"
        else:
            sequential = spelling.layer(self.work.module, self.work.scope_of(original), "Sequential")
            if sequential is None:
                return updated
            text = f"{sequential}({pool}(3, 1, 1), {pool}(3, 1, 1))"
            symbol = "torch.nn.MaxPool2d"
        return self.rewrite(original, updated, cst.parse_expression(text), "split", symbol=symbol)
