"""Calls of torch.compile are pointed at."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import argument, text_of

COMPILE = "torch.compile"
NO_DEVICE_CODE = {"aot_eager", "aot_eager_decomp_partition", "eager"}
FOR_NPU = {"npu", "npugraph_ex", "npugraphs"}


class TorchCompile(Rule):
    """Looks at the backend."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        meaning = self.meaning(original.func)
        if meaning.name != COMPILE or meaning.kind != "import":
            return updated
        twin = self.expression(original)
        backend = text_of(argument(twin, "backend")) if isinstance(twin, ast.Call) else None
        if backend in FOR_NPU:
            self.report(original.func, Status.KEPT, "known", symbol=COMPILE, backend=str(backend))
        elif backend not in NO_DEVICE_CODE:
            self._advise(original.func)
        return updated

    def leave_Decorator(self, original: cst.Decorator, updated: cst.Decorator) -> cst.Decorator:
        plain = isinstance(original.decorator, (cst.Attribute, cst.Name))
        if plain and self.qualified_name(original.decorator) == COMPILE:
            self._advise(original.decorator)
        return updated

    def _advise(self, place: cst.BaseExpression) -> None:
        """Say it once a file."""
        here = self.work.range_of(place)[0]
        first = self.work.module.fact(self.info.code, lambda: here)
        status, key = (Status.ADVICE, "compile") if first == here else (Status.KEPT, "again")
        self.report(place, status, key, symbol=COMPILE)
