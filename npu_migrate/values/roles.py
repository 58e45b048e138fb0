"""What a string is to the program: climb from it to whatever takes it, follow names to their uses, and say which it is."""

from __future__ import annotations

import ast
from enum import Enum
from typing import TYPE_CHECKING, Iterable, Iterator, NamedTuple

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.values.devices import PLACE_METHODS, Devices, is_device_name, parameters

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Scope

LOGGERS = frozenset(
    "print log debug info warning warn error critical exception write writelines set_description set_postfix "
    "add_scalar add_text title xlabel ylabel label echo secho skipif skip fail input".split()
)
OPTIONS = frozenset("add_argument option add_option argument DEFINE_string DEFINE_enum Option Argument".split())
STRING_TESTS = frozenset(
    "startswith endswith replace split rsplit partition removeprefix find index count lstrip strip".split()
)
LOOKUPS = frozenset("get pop setdefault getattr setattr getenv".split())
CONTAINERS = (ast.List, ast.Tuple, ast.Set)
MAX_STEPS = 12


class Kind(str, Enum):
    """What a string turns out to be."""

    DEVICE = "device"
    TEST = "test"
    TEXT = "text"
    KEY = "key"
    UNKNOWN = "unknown"


class Role(NamedTuple):
    """The outcome and what it rests on (a parameter, a function, a name), for the report."""

    kind: Kind
    because: str = ""

    @property
    def sure(self) -> bool:
        """Whether it is a device or a test for one."""
        return self.kind in (Kind.DEVICE, Kind.TEST)


UNKNOWN = Role(Kind.UNKNOWN)


class Roles:
    """Judges strings of one module."""

    def __init__(self, module: PythonModule) -> None:
        self.module = module
        self.devices = Devices(module)
        self._seen: set[tuple[str, str]] = set()

    def of(self, node: ast.expr) -> Role:
        """What a string (or another expression with a device's name as its value) is used as."""
        self._seen = set()
        return self._climb(node)

    def _climb(self, node: ast.AST) -> Role:
        for _ in range(MAX_STEPS):
            above = self.module.parent(node)
            if above is None:
                return UNKNOWN
            step = self._step(node, above)
            if isinstance(step, Role):
                return step
            node = step
        return UNKNOWN

    def _step(self, node: ast.AST, above: ast.AST) -> Role | ast.AST:
        """Judge by what stands directly above, or go on from there."""
        if isinstance(above, (ast.IfExp, ast.BoolOp, ast.BinOp, *CONTAINERS, ast.Starred)):
            return self._part(node, above)
        if isinstance(above, ast.Call):
            return self._argument(node, above)
        if isinstance(above, ast.keyword):
            return self._keyword(node, above)
        if isinstance(above, ast.Attribute):
            return self._method_of_string(above)
        if isinstance(above, ast.Compare):
            return self._compared(node, above)
        if isinstance(above, (ast.Dict, ast.Subscript)):
            return self._in_mapping(node, above)
        if isinstance(above, (ast.arguments, ast.comprehension, ast.For, ast.AsyncFor)):
            return self._bound_by(node, above)
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

    def _argument(self, node: ast.AST, call: ast.Call) -> Role | ast.AST:
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
            return self._tested(call.func.value)
        if last in LOOKUPS:
            return self._looked_up(node, call, last)
        name = self._meaning(call.func)
        if (name or "").startswith("torch.") or last in PLACE_METHODS:
            return Role(Kind.DEVICE, name or f".{last}()")
        if is_device_name(last):
            return Role(Kind.DEVICE, last)
        return self._special(call, last, name) or self._parameter_of(call, position, None)

    def _special(self, call: ast.Call, last: str, name: str | None) -> Role | ast.AST | None:
        """Calls that hand their argument on as it is, or that are known to take no device."""
        if last in ("field", "Field", "str", "default") or name in ("functools.partial",):
            return call
        if last == "parametrize" and call.args:
            first = call.args[0]
            names = first.value if isinstance(first, ast.Constant) else ""
            return self._named(str(names), call)
        if last in ("append", "add", "insert", "extend") and isinstance(call.func, ast.Attribute):
            return Role(Kind.DEVICE, ast.unparse(call.func.value)) if self.devices.is_device(call.func.value) else UNKNOWN
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
        return self._field(max(long, key=len)) if long else UNKNOWN

    def _tested(self, receiver: ast.expr) -> Role:
        return Role(Kind.TEST, ast.unparse(receiver)) if self.devices.is_device(receiver) else UNKNOWN

    def _looked_up(self, node: ast.AST, call: ast.Call, last: str) -> Role:
        """``d.get("device", "cuda")``: the default of what is looked up; ``d.get("cuda")``: a key."""
        skip = 1 if last in ("getattr", "setattr") and isinstance(call.func, ast.Name) else 0
        arguments = call.args[skip:]
        if arguments and arguments[0] is node:
            mapping = call.func.value if isinstance(call.func, ast.Attribute) else None
            return self._key_of(mapping) if mapping is not None and not skip else Role(Kind.KEY, last)
        key = arguments[0] if arguments else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return Role(Kind.DEVICE, key.value) if is_device_name(key.value) else self._field(key.value)
        return UNKNOWN

    def _keyword(self, node: ast.AST, above: ast.keyword) -> Role | ast.AST:
        call = self.module.parent(above)
        if not isinstance(call, ast.Call) or above.arg is None:
            return UNKNOWN
        parts = dotted(call.func) or [getattr(call.func, "attr", "")]
        if parts[-1] in OPTIONS:
            if above.arg in ("default", "const", "choices", "type", "flag_value", "enum_values"):
                return self._option(call)
            return Role(Kind.TEXT, above.arg)
        if parts[-1] in LOGGERS or above.arg in ("help", "msg", "message", "reason", "desc", "description", "label"):
            return Role(Kind.TEXT, above.arg)
        if is_device_name(above.arg) or (self._meaning(call.func) == "torch.device" and above.arg == "type"):
            return Role(Kind.DEVICE, above.arg)
        if parts[-1] in ("field", "Field") and above.arg in ("default", "default_factory"):
            return call
        if parts == ["dict"]:
            return self._field(above.arg)
        return self._parameter_of(call, None, above.arg)

    def _method_of_string(self, above: ast.Attribute) -> Role | ast.AST:
        call = self.module.parent(above)
        if above.attr in ("format", *SAME_METHODS) and isinstance(call, ast.Call) and call.func is above:
            return call
        return UNKNOWN

    def _compared(self, node: ast.AST, above: ast.Compare) -> Role:
        others = [side for side in (above.left, *above.comparators) if side is not node]
        for other in others:
            if not isinstance(other, ast.Constant) and self.devices.is_device(other):
                return Role(Kind.TEST, ast.unparse(other))
        known = [self._uses_of(other) for other in others if isinstance(other, (ast.Name, ast.Attribute))]
        return next((Role(Kind.TEST, role.because) for role in known if role.sure), UNKNOWN)

    def _uses_of(self, node: ast.Name | ast.Attribute) -> Role:
        if isinstance(node, ast.Attribute):
            return self._field(node.attr)
        scope = self.module.scope_at(self.module.range_of(node)[0])
        return self._variable(node.id, scope)

    def _in_mapping(self, node: ast.AST, above: ast.AST) -> Role | ast.AST:
        if isinstance(above, ast.Subscript):
            if above.slice is not node:
                return above if isinstance(node, CONTAINERS) else UNKNOWN
            if (dotted(above.value) or [""])[-1] == "Literal":
                return above
            return self._key_of(above.value)
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
        return self._field(key.value) if isinstance(key, ast.Constant) and isinstance(key.value, str) else UNKNOWN

    def _key_of_display(self, mapping: ast.AST) -> Role:
        """A key of a dict display is a device if something looks it up by one."""
        above = self.module.parent(mapping)
        if isinstance(above, ast.Subscript) and above.value is mapping and self.devices.is_device(above.slice):
            return Role(Kind.TEST, ast.unparse(above.slice))
        if isinstance(above, ast.Assign) and len(above.targets) == 1:
            return self._key_of(above.targets[0])
        return Role(Kind.KEY)

    def _key_of(self, mapping: ast.expr) -> Role:
        """Whether a mapping is looked up by devices anywhere in the file."""
        spelled = ast.dump(mapping).replace("Store()", "Load()")
        self.module.index(self.module.tree)
        for node in ast.walk(self.module.tree):
            key = None
            if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
                owner, key = node.value, node.slice
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
                owner, key = node.func.value, node.args[0] if node.args else None
            if key is None or isinstance(key, ast.Constant) or not self.devices.is_device(key):
                continue
            if ast.dump(owner).replace("Store()", "Load()") == spelled:
                return Role(Kind.TEST, ast.unparse(key))
        return Role(Kind.KEY, ast.unparse(mapping))

    def _bound_by(self, node: ast.AST, above: ast.AST) -> Role:
        if isinstance(above, ast.arguments):
            return self._default(node, above)
        if isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)) and above.iter is node:
            owner = self.module.parent(above) if isinstance(above, ast.comprehension) else None
            names = [name.id for name in ast.walk(above.target) if isinstance(name, ast.Name)]
            return self._first(self._named(name, owner or above) for name in names)
        return UNKNOWN

    def _default(self, node: ast.AST, arguments: ast.arguments) -> Role:
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [*zip(reversed(positional), reversed(arguments.defaults)), *zip(arguments.kwonlyargs, arguments.kw_defaults)]
        parameter = next((p for p, default in pairs if default is node), None)
        function = self.module.parent(arguments)
        if parameter is None or function is None:
            return UNKNOWN
        return self._parameter(parameter, function)

    def _parameter(self, parameter: ast.arg, function: ast.AST) -> Role:
        if is_device_name(parameter.arg) or "device" in (ast.unparse(parameter.annotation) if parameter.annotation else ""):
            return Role(Kind.DEVICE, parameter.arg)
        return self._in_body(parameter.arg, function)

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
        return self._parameter(found, function)

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

    def _in_statement(self, node: ast.AST, above: ast.AST) -> Role | ast.AST:
        if isinstance(above, ast.Assign):
            return self._assigned(node, above)
        if isinstance(above, ast.NamedExpr):
            return self._target(above.target, above)
        if isinstance(above, ast.AnnAssign):
            return Role(Kind.DEVICE, "device") if "device" in ast.unparse(above.annotation) else self._target(
                above.target, above
            )
        if isinstance(above, ast.Return):
            return self._returned(above)
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
        roles = [self._target(target, above) for target in above.targets]
        if isinstance(above.targets[0], ast.Tuple) and isinstance(above.value, ast.Tuple) and node is above.value:
            return UNKNOWN
        return self._first(roles)

    def _target(self, target: ast.expr, place: ast.AST) -> Role:
        if isinstance(target, ast.Name):
            scope = self.module.scope_at(self.module.range_of(place)[0])
            if is_device_name(target.id):
                return Role(Kind.DEVICE, target.id)
            return self._field(target.id) if scope.is_class else self._variable(target.id, scope)
        if isinstance(target, ast.Attribute):
            return Role(Kind.DEVICE, target.attr) if is_device_name(target.attr) else self._field(target.attr)
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            key = target.slice.value
            return Role(Kind.DEVICE, key) if isinstance(key, str) and is_device_name(key) else UNKNOWN
        return UNKNOWN

    def _returned(self, above: ast.Return) -> Role:
        statement = self.module.statement_at(self.module.range_of(above)[0])
        while statement is not None and not isinstance(statement.node, FUNCTIONS):
            statement = statement.parent
        if statement is None or not isinstance(statement.node, FUNCTIONS):
            return UNKNOWN
        name = statement.node.name
        if is_device_name(name):
            return Role(Kind.DEVICE, name)
        return self._field(name) if statement.scope.is_class else self._variable(name, statement.scope, called=True)

    def _matched(self, above: ast.AST) -> Role:
        for node in ast.walk(self.module.tree):
            if type(node).__name__ == "Match" and any(above is n for n in ast.walk(node)):
                return self._tested(node.subject)  # type: ignore[attr-defined]
        return UNKNOWN

    def _named(self, name: str, place: ast.AST) -> Role:
        if is_device_name(name):
            return Role(Kind.DEVICE, name)
        statement = self.module.statement_at(self.module.range_of(place)[0])
        return self._variable(name, statement.scope) if statement is not None and name.isidentifier() else UNKNOWN

    def _variable(self, name: str, scope: Scope, *, called: bool = False) -> Role:
        """What a variable is used as: the first clear use decides."""
        owner = self.module.names.binding_scope(name, scope)
        if owner is None:
            return UNKNOWN
        return self._in_body(name, owner.node, called=called)

    def _in_body(self, name: str, body: ast.AST, *, called: bool = False) -> Role:
        if ("name", name) in self._seen:
            return UNKNOWN
        self._seen.add(("name", name))
        self.module.index(body)
        return self._first(self._use(node, called=called) for node in _loads(body, name))

    def _field(self, name: str) -> Role:
        """What an attribute or key of this name is used as, anywhere in the file."""
        if is_device_name(name):
            return Role(Kind.DEVICE, name)
        if ("field", name) in self._seen:
            return UNKNOWN
        self._seen.add(("field", name))
        self.module.index(self.module.tree)
        return self._first(self._use(node) for node in _field_loads(self.module.tree, name))

    def _use(self, node: ast.expr, *, called: bool = False) -> Role:
        if called:
            above = self.module.parent(node)
            if not isinstance(above, ast.Call) or above.func is not node:
                return UNKNOWN
            node = above
        return self._climb(node)

    def _first(self, roles: Iterable[Role]) -> Role:
        """The first role that is sure; else the weakest that all agree on."""
        kinds = []
        for role in roles:
            if role.sure:
                return Role(Kind.DEVICE, role.because)
            kinds.append(role)
        if kinds and all(role.kind in (Kind.TEXT, Kind.KEY) for role in kinds):
            return kinds[0]
        return UNKNOWN

    def _meaning(self, func: ast.expr) -> str | None:
        parts = dotted(func)
        if parts is None:
            return None
        return self.module.names.meaning(parts, self.module.scope_at(self.module.range_of(func)[0])).name


SAME_METHODS = ("lower", "upper", "strip", "encode")


def _loads(body: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(body):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _field_loads(tree: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
            yield node
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == name:
            yield node
