"""``x * torch.sigmoid(x)`` -> ``F.silu(x)``, and the like, wherever it is computed; classes and functions stay."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.renames import version
from npu_migrate.rule import Status
from npu_migrate.structure import activations, autograd, spelling
from npu_migrate.structure.fallbacks import is_fallback
from npu_migrate.structure.rewriting import StepRule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.activations import Activation

EXPORT = re.compile(r"torchscript|core ?ml|onnx|tensorrt|export-friendly|for export", re.IGNORECASE)
FEW_LINES = 30
APPROXIMATE = (1, 12)  # gelu(approximate="tanh")
NAMES = {
    "silu": ("SiLU", "silu"),
    "hardswish": ("Hardswish", "hardswish"),
    "mish": ("Mish", "mish"),
    "gelu": ("GELU", "gelu"),
    "gelu_tanh": ("GELU", "gelu"),
}
TITLES = {"silu": "SiLU", "hardswish": "Hardswish", "mish": "Mish", "gelu": "GELU", "gelu_tanh": "GELU (tanh)"}


class CustomActivation(StepRule):
    """Judges the expressions that were found by what they compute."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        found = activations.find(module)
        return [start for start, _ in (*found, *autograd.applied(module))] if found else []

    def leave_BinaryOperation(self, original: cst.BinaryOperation, updated: cst.BinaryOperation) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        if len(original.args) == 1 and isinstance(original.func, cst.Attribute) and original.func.attr.value == "apply":
            return self._apply(original, updated)
        return self._judge(original, updated)

    def _apply(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """``SwishFunction.apply(x)``: the class stays, for others that use it."""
        name = autograd.applied(self.work.module).get(self.work.range_of(original))
        spelled = spelling.functional(self.work.module, self.work.scope_of(original), name) if name else None
        if name is None or spelled is None or self.target.python_api(f"torch.nn.functional.{name}") is None:
            return updated
        new = updated.with_changes(func=cst.parse_expression(spelled))
        symbol = f"torch.nn.functional.{name}"
        return self.rewrite(original, updated, new, "applied", symbol=symbol, title=TITLES[name], name=symbol)

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        """A step whose result the rewritten expression no longer needs."""
        spent = self.work.module.fact("steps of activations", self._spent)
        start, end = self.work.range_of(original)
        owner = next((a for (a_start, a_end), a in spent.items() if start <= a_start and a_end <= end), None)
        if owner is None or not self._may(owner):
            return updated
        symbol = f"torch.nn.functional.{owner.name.replace('_tanh', '')}"
        return self.without(original, updated, "step", symbol=symbol, title=TITLES[owner.name], name=symbol)

    def _spent(self) -> dict[tuple[int, int], Activation]:
        module = self.work.module
        return {module.range_of(s): found for found in activations.find(module).values() for s in found.spent}

    def _is_for_export(self, original: cst.BaseExpression) -> bool:
        """Whether a comment or docstring of a small function or class says that it is written out for export."""
        module = self.work.module
        here = module.statement_at(self.work.range_of(original)[0])
        owner = here
        while owner is not None and not isinstance(owner.node, ast.ClassDef) and owner.parent is not None:
            owner = owner.parent
        if here is None or owner is None or here.last - owner.first > FEW_LINES:
            return False
        text = module.text[module.line_start(max(1, owner.first - 1)) : module.line_start(here.last + 1)]
        return EXPORT.search(text) is not None

    def _judge(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        found = activations.find(self.work.module).get(self.work.range_of(original))
        if found is None:
            return updated
        title = TITLES[found.name]
        name = found.name.replace("_tanh", "")
        symbol = f"torch.nn.functional.{name}"
        if found.scripted:
            self.report(original, Status.KEPT, "scripted", symbol=symbol, title=title)
            return updated
        if self._is_fallback(found):
            self.report(original, Status.KEPT, "fallback", symbol=symbol, title=title)
            return updated
        if self._is_for_export(original):
            self.report(original, Status.KEPT, "export", symbol=symbol, title=title, name=symbol)
            return updated
        if found.deviation > activations.SAME:
            apart = f"{found.deviation:.0e}"
            self.report(original, Status.ADVICE, "rounded", symbol=symbol, title=title, name=symbol, apart=apart)
            return updated
        if not self._exists(found):
            self.report(original, Status.KEPT, "too-old", symbol=symbol, title=title, torch=self.target.torch)
            return updated
        if self._has_comment(found):
            self.report(original, Status.MANUAL, "comment", symbol=symbol, title=title, name=symbol)
            return updated
        spelled = spelling.functional(self.work.module, self.work.scope_of(original), name)
        if spelled is None:
            self.report(original, Status.MANUAL, "no-name", symbol=symbol, title=title, name=symbol)
            return updated
        text = f"{spelled}({self._source(found.operand)}{self._options(found)})"
        new = cst.parse_expression(text)
        return self.rewrite(original, updated, new, self._key(found), symbol=symbol, title=title, name=symbol)

    def _exists(self, found: Activation) -> bool:
        """Whether the target's PyTorch has the function, and the form of it."""
        if found.name == "gelu_tanh":
            return version(self.target) >= APPROXIMATE
        return self.target.python_api(f"torch.nn.functional.{found.name}") is not None

    def _may(self, found: Activation) -> bool:
        module = self.work.module
        bar = self.work.barred(self.info.code, module.range_of(found.node))
        return (
            bar is None
            and self.work.allows(self.info.safety)
            and found.deviation <= activations.SAME
            and not found.scripted
            and self._exists(found)
            and not self._has_comment(found)
            and not self._is_fallback(found)
            and spelling.functional(module, module.scope_at(module.range_of(found.node)[0]), found.name) is not None
        )

    def _is_fallback(self, found: Activation) -> bool:
        names = NAMES.get(found.name, ())
        return is_fallback(self.work.module, self.work.module.range_of(found.node)[0], names)

    def _has_comment(self, found: Activation) -> bool:
        """Comments inside what would go."""
        module = self.work.module
        start, end = module.range_of(found.node)
        if found.spent:
            start = module.line_start(found.spent[0].lineno)
        return "#" in module.text[start:end]

    def _options(self, found: Activation) -> str:
        if found.in_place:
            return ", inplace=True"
        return ', approximate="tanh"' if found.name == "gelu_tanh" else ""

    def _source(self, node: ast.expr) -> str:
        start, end = self.work.module.range_of(node)
        return self.work.module.text[start:end]

    def _key(self, found: Activation) -> str:
        if found.in_place:
            return "in-place"
        return "steps" if found.spent else "fused"
