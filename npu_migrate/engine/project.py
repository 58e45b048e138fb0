"""The tree as a whole, as far as one file's meaning depends on the others."""

from __future__ import annotations

import ast
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from npu_migrate.engine.module import PythonModule, parse
from npu_migrate.engine.statements import Binding, Scope
from npu_migrate.engine.text import SourceText
from npu_migrate.names import MAX_HOPS, Meaning, dotted

if TYPE_CHECKING:
    from npu_migrate.engine.statements import StatementTable

HANDS_ON = re.compile("cuda|nccl|cudnn|autocast|GradScaler")
# Characters of source whose statements are kept until their own turn comes: some 40 bytes of memory each.
KEPT = 500_000


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
        self._ahead: dict[str, tuple[str, StatementTable]] = {}
        self._answers: dict[tuple[str, str], Meaning | None] = {}

    def open(self, path: str, source: SourceText) -> PythonModule:
        """A file of the tree; one that others have asked about already is not parsed again.

        Raises:
            SyntaxError, ValueError, RecursionError: see ``PythonModule``.
        """
        text, table = self._ahead.pop(path, ("", None))
        module = PythonModule(path, source, self.follow, table if text == source.text else None)
        if path in self.files:
            self._scopes.setdefault(path, _handed_on(source.text, module.table))
        return module

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

    def _scope(self, path: str) -> Scope | None:
        if path not in self._scopes:
            self._scopes[path] = self._read(path)
        return self._scopes[path]

    def _read(self, path: str) -> Scope | None:
        try:
            text = SourceText.decode(self.files[path].read_bytes()).text
            table = parse(text) if HANDS_ON.search(text) else None
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None
        if table is None:
            return None
        if len(text) + sum(len(other) for other, _ in self._ahead.values()) <= KEPT:
            self._ahead[path] = (text, table)
        return _handed_on(text, table)


def _handed_on(text: str, table: StatementTable) -> Scope | None:
    """The names that a module binds at its top level, without its tree; None if none is of interest to others."""
    if HANDS_ON.search(text) is None:
        return None
    scope = Scope(ast.Module([], []), stars=table.module.stars)
    for name, bindings in table.module.bindings.items():
        scope.bindings[name] = [b if b.kind == "value" and dotted(b.node) else b._replace(node=None) for b in bindings]
    return scope
