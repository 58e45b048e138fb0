"""The tree as a whole, as far as one file's meaning depends on the others."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import Binding, Scope, StatementTable
from npu_migrate.names import MAX_HOPS, Meaning, dotted

if TYPE_CHECKING:
    import ast

HANDS_ON = re.compile(rb"cuda|nccl|cudnn|autocast|GradScaler")


class Project:
    """Answers questions about other files of the tree; each is parsed at most once, and only when asked about.

    ``files`` maps the relative path of every Python file of the tree to where it is.
    """

    def __init__(self, files: dict[str, Path]) -> None:
        self.files = files
        self.imported: frozenset[bytes] | None = None
        # Every word an import of something in the tree could begin with: most imports are of other packages.
        self._heads = {part for path in files for part in path.removesuffix(".py").split("/")}
        self._scopes: dict[str, Scope | None] = {}
        self._answers: dict[tuple[str, str], Meaning | None] = {}

    def follow(self, name: str, path: str) -> Meaning | None:
        """What an imported dotted name stands for, if a file of the tree defines it.

        ``name`` may start with dots (relative to ``path``). None where the tree has no such module.
        """
        if not name.startswith(".") and name.partition(".")[0] not in self._heads:
            return None
        key = (name, path)
        if key not in self._answers:
            self._answers[key] = None  # cuts import cycles
            self._answers[key] = self._follow(name, path, MAX_HOPS)
        return self._answers[key]

    def holds(self, name: str, path: str) -> bool:
        """Whether an imported dotted name is a module of the tree, or something in one."""
        return self._module_of(name, path) is not None

    def _follow(self, name: str, path: str, hops: int) -> Meaning | None:
        found = self._module_of(name, path)
        if found is None or hops == 0:
            return None
        module, rest = found
        scope = self._scope(module)
        if scope is None:
            return Meaning(None, "local", via=module)
        if not rest:
            return Meaning(None, "module", via=module)
        meaning = self._binding(rest[0], scope, module, hops)
        if meaning is None or meaning.name is None or len(rest) == 1:
            return meaning or Meaning(None, "local", via=module)
        return Meaning(".".join([meaning.name, *rest[1:]]), meaning.kind, len(rest) - 1, module)

    def _binding(self, name: str, scope: Scope, module: str, hops: int) -> Meaning | None:
        for binding in scope.bindings.get(name, ()):
            target = self._target(binding, scope)
            if target is None:
                return Meaning(None, binding.kind, via=module)
            further = self._follow(target, module, hops - 1)
            return further if further is not None else Meaning(target, "import", via=module)
        for star in scope.stars:
            dot = "" if star.endswith(".") else "."
            further = self._follow(star + dot + name, module, hops - 1)
            if further is not None and further.name is not None:
                return further
        return None

    def _target(self, binding: Binding, scope: Scope) -> str | None:
        if binding.kind == "import":
            return binding.target
        parts = dotted(binding.node) if binding.kind == "value" else None
        if not parts:
            return None
        for outer in scope.bindings.get(parts[0], ()):
            if outer.kind == "import":
                return ".".join([outer.target, *parts[1:]])
        return None

    def _module_of(self, name: str, path: str) -> tuple[str, list[str]] | None:
        """The file of the longest prefix of ``name`` that is a module of the tree, and the rest of the name."""
        level = len(name) - len(name.lstrip("."))
        parts = [p for p in name.lstrip(".").split(".") if p]
        here = PurePosixPath(path).parent
        if level:
            for _ in range(level - 1):
                here = here.parent
            bases = [here]
        else:
            bases = [here, *here.parents, PurePosixPath("src")]
        for base in bases:
            for length in range(len(parts), -1 if level else 0, -1):
                stem = str(base.joinpath(*parts[:length]))
                for candidate in (f"{stem}.py", f"{stem}/__init__.py".removeprefix("./")):
                    if candidate in self.files and candidate != path:
                        return candidate, parts[length:]
        return None

    def _scope(self, module: str) -> Scope | None:
        if module not in self._scopes:
            self._scopes[module] = _read(self.files[module])
        return self._scopes[module]


def _read(path: Path) -> Scope | None:
    """The names that a module binds at its top level; None if it cannot be read or has none of interest to hand on."""
    import ast  # noqa: PLC0415  # only trees with imports between their modules pay for it

    try:
        data = path.read_bytes()
        if HANDS_ON.search(data) is None:
            return None
        tree: ast.Module = ast.parse(data)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    scope = StatementTable(tree).module
    scope.node = None  # type: ignore[assignment]  # the tree is not needed again; a big project has many
    for bindings in scope.bindings.values():
        bindings[:] = [b if b.kind == "value" and dotted(b.node) else b._replace(node=None) for b in bindings]
    return scope
