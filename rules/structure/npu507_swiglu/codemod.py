"""``F.silu(a) * b`` of ``a, b = x.chunk(2, dim=-1)`` -> ``torch_npu.npu_swiglu(x, dim=-1)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Status
from npu_migrate.structure import swiglu
from npu_migrate.structure.rewriting import StepRule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.swiglu import Product

FUSED = "torch_npu.npu_swiglu"


class SwiGlu(StepRule):
    """Offers the operator; takes it only where results may be rounded otherwise and the program runs on NPUs alone."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        found = swiglu.find(module).values()
        return [module.range_of(node)[0] for one in found for node in (one.node, one.made)]

    def leave_BinaryOperation(self, original: cst.BinaryOperation, updated: cst.BinaryOperation) -> cst.BaseExpression:
        found = swiglu.find(self.module).get(self.work.range_of(original))
        if found is None or not self.target.has(FUSED):
            return updated
        source = self._source(found)
        if not self._whole(found):
            self.report(original, Status.ADVICE, "fused", symbol=swiglu.SILU, source=source, dim=found.dim)
            return updated
        self.need_import("torch_npu", original)
        new = cst.parse_expression(f"{FUSED}({source}, dim={found.dim})")
        return self.rewrite(original, updated, new, "fused", symbol=swiglu.SILU, source=source, dim=found.dim)

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        """The halves, which nothing else needs."""
        start, end = self.work.range_of(original)
        for found in swiglu.find(self.module).values():
            here = start <= self.module.range_of(found.made)[0] < end
            if here and self._whole(found) and self.target.has(FUSED) and self.work.allows(self.info.safety):
                source = self._source(found)
                return self.without(original, updated, "halves", symbol=swiglu.SILU, source=source, dim=found.dim)
        return updated

    def _whole(self, found: Product) -> bool:
        """Whether both statements can become one, and the program is for NPUs alone."""
        start, end = self.module.range_of(found.made)[0], self.module.range_of(found.node)[1]
        barred = any(self.work.barred(self.info.code, self.module.range_of(one)) for one in (found.made, found.node))
        return found.alone and not barred and "#" not in self.module.text[start:end] and self.settings.style == "npu"

    def _source(self, found: Product) -> str:
        start, end = self.module.range_of(found.source)
        return self.module.text[start:end]
