"""``device == "cuda"``, ``device.startswith("cuda")``, ``device[:4] == "cuda"``: tests for a device's name."""

from __future__ import annotations

import ast
from typing import Union

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.values import Kind, Roles
from npu_migrate.values.devices import Devices
from npu_migrate.values.guards import guarded, guarded_case, guarded_entry
from npu_migrate.values.strings import exchanged, is_device_string, whole_string

Piece = Union[cst.SimpleString, cst.FormattedString]
LENGTHS = {"4": "3", "5": "4"}  # of "cuda" and "cuda:", "npu" and "npu:"


class DeviceTest(Rule):
    """Exchanges the word in tests, and the lengths that stand for it in slices."""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_FormattedString(self, original: cst.FormattedString, updated: cst.FormattedString) -> cst.BaseExpression:
        return self._judge(original, updated)

    def _judge(self, original: Piece, updated: Piece) -> Piece:
        if not is_device_string(original):
            return updated
        twin = whole_string(self, original)
        if twin is None:
            return updated
        role = Roles(self.work.module).of(twin)
        if role.kind is not Kind.TEST:
            return updated
        if self._guards(original, twin):
            return updated
        self.need_import("torch_npu", original, beside_torch=True)
        return self.rewrite(original, updated, exchanged(updated), "renamed", because=role.because)

    def _guards(self, original: Piece, twin: ast.expr) -> bool:
        """Report a test that keeps tensors which are not CUDA's from a kernel that is."""
        test = self.module.parent(twin)
        if test is None:
            return False
        if isinstance(test, (ast.Compare, ast.Call)):
            found = guarded(self.module, test)
        elif type(test).__name__ == "MatchValue":
            found = guarded_case(self.module, test)
        elif isinstance(test, ast.Dict):
            found = guarded_entry(self.module, test, twin)
        else:
            found = None
        if found is not None:
            status, key = (Status.KEPT, "kernel") if found.otherwise else (Status.MANUAL, "kernel-only")
            self.report(original, status, key, name=_spelled(test, twin), kernel=found.kernel)
        return found is not None

    def leave_Slice(self, original: cst.Slice, updated: cst.Slice) -> cst.Slice:
        """``device[:4]`` and ``device[5:]`` count the letters of ``cuda``."""
        bound = original.upper if original.lower is None else original.lower
        if not isinstance(bound, cst.Integer) or bound.value not in LENGTHS or (original.lower and original.upper):
            return updated
        if not self._counts_a_device(original, bound):
            return updated
        shorter = cst.Integer(LENGTHS[bound.value])
        new = updated.with_changes(upper=shorter) if original.lower is None else updated.with_changes(lower=shorter)
        return self.rewrite(original, updated, new, "slice", at=bound, after=shorter.value)

    def _counts_a_device(self, original: cst.Slice, bound: cst.Integer) -> bool:
        number = self.expression(bound)
        module = self.work.module
        subscript = (
            next((n for n in module.ancestors(number) if isinstance(n, ast.Subscript)), None) if number else None
        )
        if subscript is None or not Devices(module).is_device(subscript.value):
            return False
        above = module.parent(subscript)
        if original.lower is not None:
            return bound.value == "5"
        return isinstance(above, ast.Compare) and any(
            isinstance(side, ast.Constant) and side.value in ("cuda", "cuda:")
            for side in (above.left, *above.comparators)
        )


def _spelled(test: ast.AST, twin: ast.expr) -> str:
    return ast.unparse(twin if isinstance(test, ast.Dict) else test)
