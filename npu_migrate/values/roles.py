"""What a string is to the program: climb from it to whatever takes it, and say which it is."""

from __future__ import annotations

import ast
import weakref
from typing import TYPE_CHECKING

from npu_migrate.names import dotted
from npu_migrate.trees import walk
from npu_migrate.values.calls import Calls
from npu_migrate.values.devices import Devices, is_device_name
from npu_migrate.values.flows import Flows
from npu_migrate.values.role import UNKNOWN, Kind, Role

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule

CONTAINERS = (ast.List, ast.Tuple, ast.Set)
DISPLAY_METHODS = frozenset({"get", "pop", "setdefault"})
SAME_METHODS = ("format", "lower", "upper", "strip", "encode", "split")
MAX_STEPS = 12
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
DEVICE_KINDS = frozenset({"cpu", "cuda", "mps", "xpu", "meta", "hpu", "mlu", "xla"})


class Roles:
    """Judges strings of one module."""

    def __init__(self, module: PythonModule) -> None:
        self.module = module
        self.devices = Devices(module)
        self._shown_by: ast.AST | None = None
        # A bound method would close a circle, and keep the module and its trees until a garbage collection.
        me = weakref.proxy(self)
        self.flows = Flows(module, self.devices, lambda node: me._climb(node))  # noqa: PLW0108, SLF001  # so it must be a lambda, on its own
        self.calls = Calls(module, self.devices, self.flows)

    def of(self, node: ast.expr) -> Role:
        """What a string (or another expression with a device's name as its value) is used as."""
        self.flows.begin()
        self._shown_by = None
        found = self._climb(node)
        return self._or_cpu(node) if found.kind is Kind.UNKNOWN else found

    def _or_cpu(self, node: ast.expr) -> Role:
        """``"cuda:0" if ok else "cpu"``: where nothing shows what it is for, the choice itself does."""
        above = self.module.parent(node)
        if isinstance(above, ast.IfExp) and above.test is not node:
            other = above.orelse if above.body is node else above.body
            if isinstance(other, ast.Constant) and other.value == "cpu":
                return Role(Kind.DEVICE, "cpu")
        return UNKNOWN

    def used(self, node: ast.expr) -> ast.AST | None:
        """Where the string that was judged last, ``node``, arrives and shows what it is, if that is another line."""
        shown = self._shown_by
        if shown is None or shown in self.module.ancestors(node):
            return None
        return shown if getattr(shown, "lineno", node.lineno) != node.lineno else None

    def _climb(self, node: ast.AST) -> Role:
        for _ in range(MAX_STEPS):
            above = self.module.parent(node)
            if above is None:
                return UNKNOWN
            step = self._step(node, above)
            if isinstance(step, Role):
                if step.sure and self._shown_by is None:
                    self._shown_by = node
                return step
            node = step
        return UNKNOWN

    def _step(self, node: ast.AST, above: ast.AST) -> Role | ast.AST:
        """Judge by what stands directly above, or go on from there."""
        if isinstance(above, (ast.IfExp, ast.BoolOp, ast.BinOp, *CONTAINERS, ast.Starred)):
            return self._part(node, above)
        if isinstance(above, COMPREHENSIONS) and above.elt is node:
            return above
        if isinstance(above, ast.Call):
            return self.calls.argument(node, above)
        if isinstance(above, ast.keyword):
            return self.calls.keyword(above)
        if isinstance(above, ast.Attribute):
            return self._method_of_string(above)
        if isinstance(above, ast.Compare):
            return self._compared(node, above)
        if isinstance(above, (ast.Dict, ast.Subscript)):
            return self._in_mapping(node, above)
        if isinstance(above, (ast.arguments, ast.comprehension, ast.For, ast.AsyncFor)):
            return self.flows.bound_by(node, above)
        return self._in_statement(node, above)

    def _part(self, node: ast.AST, above: ast.AST) -> Role | ast.AST:
        if isinstance(above, ast.IfExp) and above.test is node:
            return UNKNOWN
        if isinstance(above, ast.BoolOp):
            others = [value for value in above.values if value is not node]
            if any(self.devices.is_device(other) for other in others):
                return Role(Kind.DEVICE, ast.unparse(others[0]))
        if isinstance(above, ast.BinOp) and (above.left is not node or not isinstance(above.op, (ast.Add, ast.Mod))):
            return self._appended(above)
        return above

    def _appended(self, above: ast.BinOp) -> Role | ast.AST:
        """``["cpu"] + ["cuda"]`` is the list; ``prefix + "cuda"`` is not a device by itself."""
        return above if isinstance(above.op, ast.Add) and isinstance(above.right, CONTAINERS) else UNKNOWN

    def _method_of_string(self, above: ast.Attribute) -> Role | ast.AST:
        call = self.module.parent(above)
        same = DISPLAY_METHODS if isinstance(above.value, ast.Dict) else SAME_METHODS
        if above.attr in same and isinstance(call, ast.Call) and call.func is above:
            return call
        return UNKNOWN

    def _compared(self, node: ast.AST, above: ast.Compare) -> Role:
        return self.calls.compared(side for side in (above.left, *above.comparators) if side is not node)

    def _in_mapping(self, node: ast.AST, above: ast.AST) -> Role | ast.AST:
        if isinstance(above, ast.Subscript):
            if above.slice is not node:
                return above if isinstance(node, (*CONTAINERS, ast.Dict)) else UNKNOWN
            if (dotted(above.value) or [""])[-1] == "Literal":
                return above
            return self.flows.key_of(above.value)
        keys = above.keys  # type: ignore[attr-defined]
        if any(key is node for key in keys):
            return self._key_of_display(above)
        index = next(i for i, value in enumerate(above.values) if value is node)  # type: ignore[attr-defined]
        key = keys[index]
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and is_device_name(key.value):
            return Role(Kind.DEVICE, key.value)
        role = self._climb(above)
        if role.kind is Kind.DEVICE:
            return role
        return self.flows.field(key.value) if isinstance(key, ast.Constant) and isinstance(key.value, str) else UNKNOWN

    def _key_of_display(self, mapping: ast.AST) -> Role:
        """A key of a dict display is a device if something looks it up by one."""
        above = self.module.parent(mapping)
        if isinstance(above, ast.Subscript) and above.value is mapping and self.devices.is_device(above.slice):
            return Role(Kind.TEST, ast.unparse(above.slice))
        if isinstance(above, ast.Attribute) and above.attr == "get":
            call = self.module.parent(above)
            if isinstance(call, ast.Call) and call.args and self.devices.is_device(call.args[0]):
                return Role(Kind.TEST, ast.unparse(call.args[0]))
        role = Role(Kind.KEY)
        if isinstance(above, ast.Assign) and len(above.targets) == 1:
            role = self.flows.key_of(above.targets[0])
        return UNKNOWN if role.kind is Kind.KEY and _names_devices(mapping) else role

    def _in_statement(self, node: ast.AST, above: ast.AST) -> Role | ast.AST:
        if isinstance(above, ast.Assign):
            return self._assigned(node, above)
        if isinstance(above, ast.NamedExpr):
            kept = self.flows.target(above.target, above)
            return kept if kept.sure else above
        if isinstance(above, ast.AnnAssign):
            return (
                Role(Kind.DEVICE, "device")
                if "device" in ast.unparse(above.annotation)
                else self.flows.target(above.target, above)
            )
        if isinstance(above, ast.Return):
            return self.flows.returned(above)
        if isinstance(above, (ast.Lambda, ast.Await, ast.FormattedValue, ast.JoinedStr)):
            return UNKNOWN if isinstance(above, (ast.FormattedValue, ast.JoinedStr)) else above
        if isinstance(above, ast.arg):
            return Role(Kind.DEVICE, above.arg) if is_device_name(above.arg) else UNKNOWN
        if type(above).__name__ == "MatchValue":
            return self._matched(above)
        if isinstance(above, (ast.Assert, ast.Raise, ast.Expr)):
            return Role(Kind.TEXT)
        return UNKNOWN

    def _assigned(self, node: ast.AST, above: ast.Assign) -> Role:
        roles = [self.flows.target(target, above) for target in above.targets]
        if isinstance(above.targets[0], ast.Tuple) and isinstance(above.value, ast.Tuple) and node is above.value:
            return UNKNOWN
        return self.flows.first(roles)

    def _matched(self, above: ast.AST) -> Role:
        for node in walk(self.module.tree):
            if type(node).__name__ == "Match" and any(above is n for n in walk(node)):
                return self.calls.tested(node.subject)  # type: ignore[attr-defined]
        return UNKNOWN


def _names_devices(mapping: ast.AST) -> bool:
    """Whether all keys of a dict are kinds of device: what it is looked up by, wherever that is, will be one."""
    keys = {getattr(key, "value", None) for key in getattr(mapping, "keys", ())}
    return len(keys) > 1 and keys <= DEVICE_KINDS
