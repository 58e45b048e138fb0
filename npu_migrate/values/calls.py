"""What a call does with an argument: a known function, an option, a parameter of a function of the file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.values.classes import OwnClasses
from npu_migrate.values.devices import PLACE_METHODS, Devices, is_device_name, parameters
from npu_migrate.values.role import UNKNOWN, Kind, Role
from npu_migrate.values.vocabulary import (
    ASSERTIONS,
    ATTRIBUTES,
    LOGGERS,
    LOOKUPS,
    OPTIONS,
    OTHER_LIBRARIES,
    STRING_TESTS,
    TEXTS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.values.flows import Flows

HANDED_ON = frozenset({"field", "Field", "str", "default", "Choice", "list", "tuple"})


class Calls:
    """Judges arguments; a role is the answer, a node means: go on from there."""

    def __init__(self, module: PythonModule, devices: Devices, flows: Flows) -> None:
        self.module = module
        self.devices = devices
        self.flows = flows

    def argument(self, node: ast.AST, call: ast.Call) -> Role | ast.AST:
        """What the called thing takes a positional argument (or its own callee) for."""
        if call.func is node:
            return call
        position = next((i for i, argument in enumerate(call.args) if argument is node), None)
        parts = dotted(call.func) or ([call.func.attr] if isinstance(call.func, ast.Attribute) else [""])
        last = parts[-1]
        if last in LOGGERS or last.endswith(("Error", "Exception", "Warning")):
            return Role(Kind.TEXT, last)
        if last in OPTIONS:
            return self._option(call) if position else Role(Kind.TEXT, last)
        if last in STRING_TESTS and isinstance(call.func, ast.Attribute):
            return self.tested(call.func.value)
        if position == 1 and isinstance(call.func, ast.Name) and last in ATTRIBUTES:
            return Role(Kind.ATTRIBUTE, last)
        if last in ASSERTIONS and position in (0, 1):
            return self.compared(one for one in call.args[:2] if one is not node)
        if last in LOOKUPS:
            return self._looked_up(node, call, last)
        own = self._own_method(call) if last in PLACE_METHODS else None
        if own is not None:
            names = parameters(own)[1:]
            known = position is not None and position < len(names)
            return self.flows.parameter(names[position or 0], own) if known else UNKNOWN
        return self._placed(call, last) or self._special(call, last) or self._parameter_of(call, position, None)

    def _placed(self, call: ast.Call, last: str) -> Role | None:
        """Calls that take a device: PyTorch's by its place, those of other packages by its name."""
        library = self._library(call.func)
        if library:
            return Role(Kind.LIBRARY, library)
        name = self._meaning(call.func) or ""
        if name.startswith("torch.") or last in PLACE_METHODS:
            return Role(Kind.DEVICE, name or f".{last}()")
        if is_device_name(last):
            return Role(Kind.DEVICE, last)
        chosen = next((one for one in self._choices(call.func) if one.startswith("torch.")), None)
        return Role(Kind.DEVICE, chosen) if chosen is not None else None

    def _own_method(self, call: ast.Call) -> ast.AST | None:
        """The method that is called, where a class of the file that has nothing from elsewhere names its parameters."""
        if not isinstance(call.func, ast.Attribute):
            return None
        owner = OwnClasses.of(self.module, call.func.attr).class_of(call.func.value)
        if not isinstance(owner, ast.ClassDef) or owner.bases:
            return None
        methods = (one for one in owner.body if getattr(one, "name", "") == call.func.attr)
        return next((one for one in methods if len(parameters(one)) > 1), None)

    def _library(self, func: ast.expr) -> str:
        """The package that a function, or the object whose method it is, comes from, if its devices are not torch's."""
        while isinstance(func, (ast.Attribute, ast.Call, ast.Subscript)) and dotted(func) is None:
            func = func.func if isinstance(func, ast.Call) else func.value
        root = (self._meaning(func) or "").partition(".")[0]
        return root if root in OTHER_LIBRARIES else ""

    def _choices(self, func: ast.expr) -> Iterator[str]:
        """What a called variable may stand for: ``scope = autocast if mixed else nullcontext``."""
        if not isinstance(func, ast.Name):
            return
        owner = self.module.names.binding_scope(func.id, self.module.scope_at(self.module.range_of(func)[0]))
        values = [b.node for b in owner.bindings.get(func.id, ()) if b.kind == "value"] if owner is not None else []
        for value in values:
            for one in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
                name = self._meaning(one) if isinstance(one, ast.expr) else None
                if name is not None:
                    yield name

    def _special(self, call: ast.Call, last: str) -> Role | ast.AST | None:
        """Calls that hand their argument on as it is, or that are known to take no device."""
        if (
            last in ("field", "Field", "str", "default", "Choice", "list", "tuple")
            or self._meaning(call.func) == "functools.partial"
        ):
            return call
        if last == "parametrize" and call.args:
            first = call.args[0]
            names = first.value if isinstance(first, ast.Constant) else ""
            return self.flows.named(str(names), call)
        if last in ("append", "add", "insert", "extend") and isinstance(call.func, ast.Attribute):
            return (
                Role(Kind.DEVICE, ast.unparse(call.func.value)) if self.devices.is_device(call.func.value) else UNKNOWN
            )
        if last == "len":
            return call
        if last in ("join", "Path"):
            return Role(Kind.TEXT, last)
        return None

    def _option(self, call: ast.Call) -> Role:
        """The value of a command-line option, by the option's name."""
        names = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        names += [
            k.value.value
            for k in call.keywords
            if k.arg in ("dest", "name") and isinstance(k.value, ast.Constant) and isinstance(k.value.value, str)
        ]
        for name in names:
            if is_device_name(name):
                return Role(Kind.DEVICE, name)
        long = [name.lstrip("-").replace("-", "_") for name in names if name.lstrip("-")]
        return self.flows.field(max(long, key=len)) if long else UNKNOWN

    def tested(self, receiver: ast.expr) -> Role:
        """A test of a string for what it contains is a test for a device if the string is one."""
        if self.devices.is_device(receiver):
            return Role(Kind.TEST, ast.unparse(receiver))
        role = self.flows.uses_of(receiver) if isinstance(receiver, (ast.Name, ast.Attribute)) else UNKNOWN
        return Role(Kind.TEST, role.because) if role.sure else UNKNOWN

    def compared(self, others: Iterable[ast.expr]) -> Role:
        """What stands beside other sides of a comparison."""
        sides = list(others)
        for other in sides:
            if not isinstance(other, ast.Constant) and (
                self.devices.is_device(other) or self.devices.is_type_text(other)
            ):
                return Role(Kind.TEST, ast.unparse(other))
        held = [other.target if isinstance(other, ast.NamedExpr) else other for other in sides]
        known = [self.flows.uses_of(other) for other in held if isinstance(other, (ast.Name, ast.Attribute))]
        return next((Role(Kind.TEST, role.because) for role in known if role.sure), UNKNOWN)

    def _looked_up(self, node: ast.AST, call: ast.Call, last: str) -> Role:
        """``d.get("device", "cuda")``: the default of what is looked up; ``d.get("cuda")``: a key."""
        skip = 1 if last in ("getattr", "setattr") and isinstance(call.func, ast.Name) else 0
        arguments = call.args[skip:]
        if arguments and arguments[0] is node:
            mapping = call.func.value if isinstance(call.func, ast.Attribute) else None
            return self.flows.key_of(mapping) if mapping is not None and not skip else Role(Kind.KEY, last)
        key = arguments[0] if arguments else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return Role(Kind.DEVICE, key.value) if is_device_name(key.value) else self.flows.field(key.value)
        return UNKNOWN

    def keyword(self, above: ast.keyword) -> Role | ast.AST:
        """What the called thing takes a keyword argument for."""
        call = self.module.parent(above)
        if not isinstance(call, ast.Call) or above.arg is None:
            return UNKNOWN
        parts = dotted(call.func) or [getattr(call.func, "attr", "")]
        if parts[-1] in OPTIONS:
            if above.arg in ("default", "const", "choices", "type", "flag_value", "enum_values"):
                return self._option(call)
            return Role(Kind.TEXT, above.arg)
        if parts[-1] in LOGGERS or above.arg in TEXTS:
            return Role(Kind.TEXT, above.arg)
        library = self._library(call.func)
        if library:
            return Role(Kind.LIBRARY, library)
        if is_device_name(above.arg) or (self._meaning(call.func) == "torch.device" and above.arg == "type"):
            return Role(Kind.DEVICE, above.arg)
        if parts[-1] in ("field", "Field") and above.arg in ("default", "default_factory"):
            return call
        if parts == ["dict"]:
            return self.flows.field(above.arg)
        return self._parameter_of(call, None, above.arg)

    def _parameter_of(self, call: ast.Call, position: int | None, keyword: str | None) -> Role:
        """An argument of a function or class that this file defines is what the parameter is."""
        function, bound = self._definition(call.func)
        names = parameters(function) if function is not None else []
        if keyword is not None:
            extra = function.args.kwonlyargs if isinstance(function, FUNCTIONS) else []
            found = next((p for p in [*names, *extra] if p.arg == keyword), None)
        else:
            index = (position or 0) + bound
            found = names[index] if position is not None and index < len(names) else None
        if found is None or function is None:
            return UNKNOWN
        return self.flows.parameter(found, function)

    def _definition(self, func: ast.expr) -> tuple[ast.AST | None, int]:
        """The function that a call reaches, and how many of its parameters are bound already (``self``)."""
        name = (dotted(func) or [""])[-1]
        for scope in self.module.table.scopes.values():
            for binding in scope.bindings.get(name, ()):
                if binding.kind == "def" and scope.is_class == isinstance(func, ast.Attribute):
                    return binding.node, int(scope.is_class)
                if binding.kind == "class" and binding.node is not None:
                    body = binding.node.body  # type: ignore[attr-defined]
                    init = next((n for n in body if isinstance(n, FUNCTIONS) and n.name == "__init__"), None)
                    return init, 1
        return None, 0

    def _meaning(self, func: ast.expr) -> str | None:
        parts = dotted(func)
        if parts is None:
            return None
        return self.module.names.meaning(parts, self.module.scope_at(self.module.range_of(func)[0])).name
