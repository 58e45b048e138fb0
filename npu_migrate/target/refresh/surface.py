"""The Python names of a torch_npu release, read from its sources without importing them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from npu_migrate.target.refresh.sources import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PACKAGE = "torch_npu"

# What these assign is there only after they were imported by name.
_NOT_AT_IMPORT = (
    "torch_npu._inductor",
    "torch_npu._compiler",
    "torch_npu.contrib.transfer_to_npu",
    "torch_npu.dynamo",
    "torch_npu.testing",
)
_MAY_GRAFT = re.compile(rb"^\s*torch_npu\.[\w.]+ *=[^=]|globals_dict\[", re.MULTILINE)

# The C extension puts names (the tensor types, the operators) into these, which only their __all__ tells.
_FILLED_BY_C = ("torch_npu", "torch_npu.npu")

# Decorators that give the class back.
_HARMLESS = frozenset({"dataclass", "dataclasses.dataclass", "total_ordering", "unique"})

# Kinds of names, one letter each: what the reader's ``Kind`` spells out.
FUNCTION, CLASS, MODULE, DATA, OPERATOR, OPAQUE = "f", "c", "m", "d", "o", "b"


@dataclass
class Module:
    """One source file: the names at its top level, and what a star import of it brings."""

    name: str
    is_package: bool
    names: dict[str, str] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    exported: list[str] | None = None
    open_ended: bool = False  # names come from where no source tells: a star import, a __getattr__

    def absolute(self, level: int, target: str | None) -> str:
        """The module that a (relative) import names."""
        if not level:
            return target or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - level + (1 if self.is_package else 0)]
        return ".".join([*kept, target] if target else kept)

    def starred(self) -> dict[str, str]:
        """What ``from module import *`` binds."""
        wanted = self.exported
        if wanted is None:
            wanted = [name for name in self.names if not name.startswith("_")]
        return {name: self.names.get(name, DATA) for name in wanted}


class Surface:
    """All modules of one unpacked wheel (or source tree), each read once and only when asked for."""

    def __init__(self, root: Path, package: str = PACKAGE) -> None:
        """``root`` holds the top-level package of ``package``."""
        self.package = package
        self.files = {
            ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
            for path in sorted(root.joinpath(*package.split(".")).rglob("*.py"))
        }
        self._modules: dict[str, Module] = {}

    def owns(self, module: str) -> bool:
        """Whether a module is part of the package."""
        return module == self.package or module.startswith(self.package + ".")

    def module(self, name: str) -> Module | None:
        """The names of one module; ``None`` where there is no such source file."""
        path = self.files.get(name)
        if path is None:
            return None
        if name not in self._modules:
            self._modules[name] = module = Module(name, path.name == "__init__.py")
            _Reader(self, module).read(parse(path.read_bytes()).body)
            if name in _FILLED_BY_C or module.open_ended:
                for exported in module.exported or ():
                    module.names.setdefault(exported, DATA)
            self._add_submodules(module)
        return self._modules[name]

    def _add_submodules(self, module: Module) -> None:
        prefix = module.name + "."
        for name in self.files:
            if name.startswith(prefix):
                module.names.setdefault(name[len(prefix) :].split(".")[0], MODULE)

    def kind(self, module: str, name: str) -> str:
        """What ``from module import name`` binds."""
        if not self.owns(module):
            return OPAQUE if name[:1].isupper() else DATA
        found = self.module(module)
        if found and name in found.names:
            return found.names[name]
        return MODULE if f"{module}.{name}" in self.files else DATA

    def grafts(self) -> set[str]:
        """Every dotted name of the package that some function of it assigns to, ``torch_npu.x = ...``."""
        found: set[str] = set()
        for module, path in self.files.items():
            source = path.read_bytes()
            if module.startswith(_NOT_AT_IMPORT) or not _MAY_GRAFT.search(source):
                continue
            nodes = ast.walk(parse(source))
            found.update(target for node in nodes if isinstance(node, ast.Assign) for target in _grafted(node))
        return found


class _Reader:
    """Collects the bindings that a module's top-level statements make."""

    def __init__(self, surface: Surface, module: Module) -> None:
        self.surface = surface
        self.module = module

    def read(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.module.names[node.name] = FUNCTION
                self.module.open_ended = self.module.open_ended or node.name == "__getattr__"
            elif isinstance(node, ast.ClassDef):
                self._class(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                self._assign(node)
            elif isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                self._blocks(node)
            elif isinstance(node, ast.Delete):
                for target in node.targets:
                    self.module.names.pop(ast.unparse(target), None)

    def _blocks(self, node: ast.If | ast.Try | ast.With) -> None:
        self.read(node.body)
        self.read(getattr(node, "orelse", []))
        self.read(getattr(node, "finalbody", []))
        for handler in getattr(node, "handlers", []):
            self.read(handler.body)

    def _class(self, node: ast.ClassDef) -> None:
        own = _members(node)
        kind = CLASS
        for base in node.bases:
            inherited = self.module.members.get(base.id) if isinstance(base, ast.Name) else None
            if inherited is not None:
                own |= inherited
            elif not (isinstance(base, ast.Name) and base.id in {"object", "Enum", "IntEnum"}):
                kind = OPAQUE
        self.module.names[node.name] = kind
        self.module.members[node.name] = own

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        stored = [
            found.id
            for target in targets
            for found in ast.walk(target)
            if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store)
        ]
        if "__all__" in stored and node.value is not None:
            self.module.exported = [*(self.module.exported or ()), *_strings(node.value)]
        for name in stored:
            if name != "__all__":
                self.module.names.setdefault(name, self._kind_of(node.value))

    def _kind_of(self, value: ast.expr | None) -> str:
        if isinstance(value, ast.Name):
            return self.module.names.get(value.id, DATA)
        return DATA

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname and self.surface.owns(alias.name):
                self.module.names[alias.asname] = MODULE

    def _import_from(self, node: ast.ImportFrom) -> None:
        source = self.module.absolute(node.level, node.module)
        # What a module merely uses (os, typing, numpy) is no part of its interface; what it takes from torch may be.
        if not self.surface.owns(source) and not source.startswith("torch."):
            return
        for alias in node.names:
            if alias.name != "*":
                self.module.names[alias.asname or alias.name] = self.surface.kind(source, alias.name)
                self._take_members(source, alias)
                continue
            origin = self.surface.module(source)
            self.module.open_ended = self.module.open_ended or origin is None
            if origin is not None:
                self.module.names.update(origin.starred())
                self.module.members.update({k: v for k, v in origin.members.items() if k in origin.starred()})

    def _take_members(self, source: str, alias: ast.alias) -> None:
        origin = self.surface.module(source)
        if origin is not None and alias.name in origin.members:
            self.module.members[alias.asname or alias.name] = origin.members[alias.name]


def _members(node: ast.ClassDef) -> set[str]:
    """What a class itself has; a bare annotation binds nothing, and a decorator may return anything at all."""
    if any(ast.unparse(one).partition("(")[0] not in _HARMLESS for one in node.decorator_list):
        return set()
    found = {item.name for item in node.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    for item in node.body:
        if isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value is not None:
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            found.update(target.id for target in targets if isinstance(target, ast.Name))
    return found


def _strings(node: ast.expr) -> list[str]:
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _grafted(node: ast.Assign) -> Iterator[str]:
    """``torch_npu.x = ...`` and ``globals_dict["x"] = ...``, the two ways in which names are added at import."""
    for target in node.targets:
        if isinstance(target, ast.Attribute):
            dotted = ast.unparse(target)
            if dotted.split(".")[0] == PACKAGE:
                yield dotted
        elif (
            isinstance(target, ast.Subscript)
            and isinstance(target.value, ast.Name)
            and target.value.id == "globals_dict"
            and isinstance(target.slice, ast.Constant)
        ):
            yield f"{PACKAGE}.{target.slice.value!s}"


def assigned_lists(path: Path) -> dict[str, list[str]]:
    """The lists of strings that a file assigns to names at its top level."""
    return {
        target.id: _strings(node.value)
        for node in parse(path.read_bytes()).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
