"""``"torch.cuda.FloatTensor"`` -> ``"torch.npu.FloatTensor"``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.trees import walk
from npu_migrate.values.arguments import callers, last_name, name_of
from npu_migrate.values.vocabulary import LOGGERS

if TYPE_CHECKING:
    from collections.abc import Sequence

OLD, NEW = "torch.cuda", "torch.npu"
TYPE = re.compile(r"torch\.cuda\.((?:\w+\.)?\w*Tensor)")
TEMPLATE = re.compile(r"torch\.cuda\.(%s|\{\w*\})Tensor")
DEFAULT = "torch.set_default_tensor_type"
DEPTH = 3


class TensorType(Rule):
    """Judges strings that are the name of a type, or a template of one, from end to end."""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        text = original.raw_value
        if not text.startswith(OLD):
            return updated
        known = TYPE.fullmatch(text)
        twin = self.expression(original)
        if twin is None or not (known or TEMPLATE.fullmatch(text) or (text == OLD and self._asks_type(twin))):
            return updated
        if self._stays(original, twin, known):
            return updated
        new = updated.with_changes(value=updated.value.replace(OLD, NEW, 1))
        return self._renamed(original, updated, new)

    def leave_FormattedString(self, original: cst.FormattedString, updated: cst.FormattedString) -> cst.BaseExpression:
        parts: Sequence[cst.BaseFormattedStringContent] = original.parts
        if len(parts) != 3 or _text(parts[0]) != OLD + "." or _text(parts[2]) != "Tensor":  # noqa: PLR2004  # around a field
            return updated
        first = cst.FormattedStringText(NEW + ".")
        return self._renamed(original, updated, updated.with_changes(parts=[first, *updated.parts[1:]]))

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        value = original.args[0].value if original.args else None
        if value is not None and self.qualified_name(original.func) == DEFAULT and self._is_type_of_cuda(value):
            place = original if isinstance(value, cst.SimpleString) else original.func
            self.report(place, Status.MANUAL, "default", symbol=DEFAULT)
        return updated

    def _is_type_of_cuda(self, value: cst.BaseExpression) -> bool:
        twin = self.expression(value)
        return twin is not None and any(self._names_cuda(node) for node in walk(twin))

    def _names_cuda(self, node: ast.AST, depth: int = DEPTH) -> bool:
        """``"torch.cuda.FloatTensor"``, the type under any name, or a variable that holds one of the two."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and node.value.startswith(OLD)
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return False
        if (name_of(self.module, node) or "").startswith(OLD):
            return True
        if not isinstance(node, ast.Name) or depth == 0:
            return False
        owner = self.module.names.binding_scope(node.id, self.module.scope_at(self.module.range_of(node)[0]))
        values = [one.node for one in owner.bindings[node.id] if one.kind == "value"] if owner is not None else []
        return any(self._names_cuda(inner, depth - 1) for value in values if value is not None for inner in walk(value))

    def _renamed(
        self, original: cst.BaseExpression, updated: cst.BaseString, new: cst.BaseString
    ) -> cst.BaseExpression:
        self.need_import("torch_npu", original)
        old = self.work.code(original)
        return self.rewrite(original, updated, new, "renamed", old=old, new=self.work.code(new))

    def _stays(self, original: cst.SimpleString, twin: ast.expr, known: re.Match[str] | None) -> bool:
        taker = next(iter(callers(self.work.module, twin)), None)
        name = last_name(taker.func) if taker is not None else ""
        above = self.work.module.parent(twin)
        if name == "set_default_tensor_type" or isinstance(above, ast.Expr):
            return True
        if isinstance(above, ast.Compare):
            name = ""  # what is shown is the answer, not the name
        if name in LOGGERS or name.endswith(("Error", "Exception", "Warning")):
            self.report(original, Status.KEPT, "text", old=self.work.code(original))
        elif known and not self.target.has(f"{NEW}.{known[1]}"):
            release = self.target.torch_npu
            self.report(original, Status.UNSUPPORTED, "missing", name=f"{NEW}.{known[1]}", release=release)
        else:
            return False
        return True

    def _asks_type(self, twin: ast.expr) -> bool:
        """``t.type().startswith("torch.cuda")`` and ``"torch.cuda" in t.type()``."""
        above = self.work.module.parent(twin)
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute):
            return above.func.attr == "startswith" and _is_type(above.func.value)
        return isinstance(above, ast.Compare) and any(_is_type(side) for side in above.comparators)


def _text(part: cst.BaseFormattedStringContent) -> str:
    return part.value if isinstance(part, cst.FormattedStringText) else ""


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "type"
