"""Follow a name to its uses: the uses say what its value is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Callable

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.trees import walk
from npu_migrate.values.devices import Devices, is_device_name
from npu_migrate.values.role import UNKNOWN, Kind, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Scope


class Flows:
    """Judges names of one module; ``climb`` judges the place of one use."""

    def __init__(self, module: PythonModule, devices: Devices, climb: Callable[[ast.AST], Role]) -> None:
        self.module = module
        self.devices = devices
        self._climb = climb
        self._seen: set[tuple[str, str]] = set()

    def begin(self) -> None:
        """Start on another string: what was followed for the last one may be followed again."""
        self._seen.clear()

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
        return self.first(self._use(node, called=called) for node in _loads(body, name))

    def field(self, name: str) -> Role:
        """What an attribute or key of this name is used as, anywhere in the file."""
        if is_device_name(name):
            return Role(Kind.DEVICE, name)
        if ("field", name) in self._seen:
            return UNKNOWN
        self._seen.add(("field", name))
        self.module.index(self.module.tree)
        return self.first(self._use(node) for node in _field_loads(self.module.tree, name))

    def _use(self, node: ast.expr, *, called: bool = False) -> Role:
        if called:
            above = self.module.parent(node)
            if not isinstance(above, ast.Call) or above.func is not node:
                return UNKNOWN
            node = above
        return self._climb(node)

    def first(self, roles: Iterable[Role]) -> Role:
        """The first role that is sure; else the weakest that all agree on."""
        kinds = []
        for role in roles:
            if role.sure:
                return Role(Kind.DEVICE, role.because)
            kinds.append(role)
        if kinds and all(role.kind in (Kind.TEXT, Kind.KEY) for role in kinds):
            return kinds[0]
        return UNKNOWN

    def named(self, name: str, place: ast.AST) -> Role:
        """What a name that is bound at ``place`` stands for."""
        if is_device_name(name):
            return Role(Kind.DEVICE, name)
        statement = self.module.statement_at(self.module.range_of(place)[0])
        return self._variable(name, statement.scope) if statement is not None and name.isidentifier() else UNKNOWN

    def target(self, target: ast.expr, place: ast.AST) -> Role:
        """What the target of an assignment stands for."""
        if isinstance(target, ast.Name):
            scope = self.module.scope_at(self.module.range_of(place)[0])
            if is_device_name(target.id):
                return Role(Kind.DEVICE, target.id)
            return self.field(target.id) if scope.is_class else self._variable(target.id, scope)
        if isinstance(target, ast.Attribute):
            return Role(Kind.DEVICE, target.attr) if is_device_name(target.attr) else self.field(target.attr)
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            key = target.slice.value
            return Role(Kind.DEVICE, key) if isinstance(key, str) and is_device_name(key) else UNKNOWN
        return UNKNOWN

    def returned(self, above: ast.Return) -> Role:
        """What the calls of the enclosing function are used as."""
        statement = self.module.statement_at(self.module.range_of(above)[0])
        while statement is not None and not isinstance(statement.node, FUNCTIONS):
            statement = statement.parent
        if statement is None or not isinstance(statement.node, FUNCTIONS):
            return UNKNOWN
        name = statement.node.name
        if is_device_name(name):
            return Role(Kind.DEVICE, name)
        return self.field(name) if statement.scope.is_class else self._variable(name, statement.scope, called=True)

    def parameter(self, parameter: ast.arg, function: ast.AST) -> Role:
        """What a parameter stands for: by its name, its annotation, or its uses."""
        if is_device_name(parameter.arg) or "device" in (
            ast.unparse(parameter.annotation) if parameter.annotation else ""
        ):
            return Role(Kind.DEVICE, parameter.arg)
        return self._in_body(parameter.arg, function)

    def _default(self, node: ast.AST, arguments: ast.arguments) -> Role:
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [
            *zip(reversed(positional), reversed(arguments.defaults)),
            *zip(arguments.kwonlyargs, arguments.kw_defaults),
        ]
        parameter = next((p for p, default in pairs if default is node), None)
        function = self.module.parent(arguments)
        if parameter is None or function is None:
            return UNKNOWN
        return self.parameter(parameter, function)

    def bound_by(self, node: ast.AST, above: ast.AST) -> Role:
        """A default value, or what a loop runs over."""
        if isinstance(above, ast.arguments):
            return self._default(node, above)
        if isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)) and above.iter is node:
            owner = self.module.parent(above) if isinstance(above, ast.comprehension) else None
            names = [name.id for name in walk(above.target) if isinstance(name, ast.Name)]
            return self.first(self.named(name, owner or above) for name in names)
        return UNKNOWN

    def key_of(self, mapping: ast.expr) -> Role:
        """Whether a mapping is looked up by devices anywhere in the file."""
        spelled = ast.dump(mapping).replace("Store()", "Load()")
        self.module.index(self.module.tree)
        for node in walk(self.module.tree):
            key = None
            if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
                owner, key = node.value, node.slice
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
                owner, key = node.func.value, node.args[0] if node.args else None
            if key is None or isinstance(key, ast.Constant) or not self._is_device(key):
                continue
            if ast.dump(owner).replace("Store()", "Load()") == spelled:
                return Role(Kind.TEST, ast.unparse(key))
        return Role(Kind.KEY, ast.unparse(mapping))

    def _is_device(self, key: ast.expr) -> bool:
        """Whether something is a device by itself, or by what else is done with it."""
        named = isinstance(key, (ast.Name, ast.Attribute))
        return self.devices.is_device(key) or (named and self.uses_of(key).sure)  # type: ignore[arg-type]

    def uses_of(self, node: ast.Name | ast.Attribute) -> Role:
        """What a variable or field is used as elsewhere."""
        if isinstance(node, ast.Attribute):
            return self.field(node.attr)
        scope = self.module.scope_at(self.module.range_of(node)[0])
        return self._variable(node.id, scope)


def _loads(body: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in walk(body):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _field_loads(tree: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in walk(tree):
        if (isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)) or (
            isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == name
        ):
            yield node
