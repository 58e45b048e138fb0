"""``half()`` where nothing is trained in it: right as it is, and said so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.structure import training

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule


class HalfInference(Rule):
    """Gives the reason for which each stays."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for (start, _), found in training.find(module).items() if found.use not in training.TRAINED]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        if not isinstance(original.func, cst.Attribute) or original.func.attr.value != "half":
            return updated
        module = self.work.module
        found = training.find(module).get(self.work.range_of(original))
        if found is not None and found.use not in training.TRAINED:
            loops = (other.loop for other in training.find(module).values() if other.loop is not None)
            if not any(call is found.call for loop in loops for call in loop.halves):
                self.report(original, Status.KEPT, found.use, at=original.func.attr, symbol="torch.Tensor.half")
        return updated
