"""``get_device_properties().major`` and ``get_device_capability() >= (8, 0)``: what an NPU cannot answer."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.values.kernels import is_build_script
from npu_migrate.values.origins import maker

NAMESPACES = ("torch.cuda.", "torch.npu.", "torch_npu.npu.")
PROPERTIES = frozenset(f"{namespace}get_device_properties" for namespace in NAMESPACES)
CAPABILITY = frozenset(f"{namespace}get_device_capability" for namespace in NAMESPACES)


class DeviceProperties(Rule):
    """Points at the attribute that is missing, and at what is done with a capability that is None."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        name = original.attr.value
        key = self.table["attributes"].get(name)
        twin = self.expression(original) if key else None
        if isinstance(twin, ast.Attribute) and maker(self.work.module, twin.value) in PROPERTIES:
            self.report(original, Status.UNSUPPORTED, key, at=original.attr, symbol=name, name=name)
        return updated

    def leave_Subscript(self, original: cst.Subscript, updated: cst.Subscript) -> cst.BaseExpression:
        if isinstance(original.value, cst.Call) and self._is_capability(original.value):
            self._capability(original.slice[0])
        return updated

    def leave_Comparison(self, original: cst.Comparison, updated: cst.Comparison) -> cst.BaseExpression:
        sides = [original.left, *(target.comparator for target in original.comparisons)]
        if any(isinstance(side, cst.Call) and self._is_capability(side) for side in sides):
            self._capability(original.comparisons[-1])
        return updated

    def leave_BinaryOperation(self, original: cst.BinaryOperation, updated: cst.BinaryOperation) -> cst.BaseExpression:
        if isinstance(original.right, cst.Call) and self._is_capability(original.right):
            self._capability(original.left)
        return updated

    def leave_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign:
        if isinstance(original.value, cst.Call) and self._is_capability(original.value):
            self._capability(original.targets[0].target)
        return updated

    def leave_StarredElement(self, original: cst.StarredElement, updated: cst.StarredElement) -> cst.StarredElement:
        if isinstance(original.value, cst.Call) and self._is_capability(original.value):
            self._capability(original)
        return updated

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        if original.star and isinstance(original.value, cst.Call) and self._is_capability(original.value):
            self._capability(original)
        return updated

    def _is_capability(self, call: cst.Call) -> bool:
        if self.qualified_name(call.func) not in CAPABILITY:
            return False
        return not is_build_script(self.module)  # which asks for what nvcc is to compile

    def _capability(self, at: cst.CSTNode) -> None:
        self.report(at, Status.MANUAL, "capability", symbol="torch.cuda.get_device_capability")
