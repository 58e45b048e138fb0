"""Where a file speaks of something by its absolute name: through imports, aliases, and the name in full.

Found in the text, from what the file's names stand for, so that a word which is common in prose, or as a variable,
sends no statement to LibCST.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.literals import occurrences, words
from npu_migrate.names import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Scope


class Alias(NamedTuple):
    """A name that the file binds to something with a dotted name, as it is written."""

    local: str
    origin: str
    scope: Scope
    is_import: bool


def mentions(
    module: PythonModule, names: Sequence[str], keywords: Sequence[str], *, imported: bool = True
) -> list[int]:
    """Offsets at which the file may mean one of these dotted names, or something below one.

    Args:
        module: the file.
        names: absolute dotted names.
        keywords: words of which an alias of the names holds one, where its own import does not tell
            (``from utils import profile``); wherever they stand, if a star import may have brought them.
        imported: also uses of a name that an import brought as it is, of which that import tells.
    """
    text = module.text
    if not any(word in text for word in keywords):
        names = [name for name in names if name.rpartition(".")[2] in text]
    if not names:
        return []
    found = list(_imports(module, names))
    for spelled in sorted(_spellings(module, names, keywords, imported=imported)):
        found += [start for start in words(text, spelled) if text[start - 1 : start] != "."]
    for name in names:
        found += _broken(text, name.rpartition(".")[2])
    if module.table.module.stars:
        for keyword in keywords:
            found += occurrences(text, keyword)
    return found


def imports_with(module: PythonModule, keywords: Sequence[str]) -> list[int]:
    """Offsets of the import statements that hold one of the keywords."""
    starts = []
    for node in _import_statements(module):
        start, end = module.range_of(node)
        text = module.text[start:end]
        if any(word in text for word in keywords):
            starts.append(start)
    return starts


def _imports(module: PythonModule, names: Sequence[str]) -> Iterator[int]:
    for node in _import_statements(module):
        if any(_is_below(imported, name) for imported in _imported(node) for name in names):
            yield module.range_of(node)[0]


def _import_statements(module: PythonModule) -> list[ast.Import | ast.ImportFrom]:
    def find() -> list[ast.Import | ast.ImportFrom]:
        return [s.node for s in module.table.statements if isinstance(s.node, (ast.Import, ast.ImportFrom))]

    return module.fact("import statements", find)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_below(name: str, root: str) -> bool:
    return f"{name}.".startswith(f"{root}.")


def _spellings(module: PythonModule, names: Sequence[str], keywords: Sequence[str], *, imported: bool) -> set[str]:
    """How the file writes the names: ``torch.cuda.amp`` is ``cuda.amp`` after ``from torch import cuda``."""
    found: set[str] = set()
    roots = {name.partition(".")[0] for name in names}
    for alias in module.fact("aliases", lambda: list(_aliases(module))):
        near = []
        if alias.origin.partition(".")[0] in roots:
            near = [name for name in names if _is_below(alias.origin, name) or _is_below(name, alias.origin)]
        stands_for = alias.origin
        if not alias.is_import or not near:
            if not any(word in alias.origin or word in alias.local for word in keywords):
                continue
            near = list(names)
            stands_for = module.names.head(alias.local, alias.scope).name or ""
        for name in near:
            if _is_below(stands_for, name):
                found.update({alias.local} if imported and alias.is_import else ())
            elif _is_below(name, stands_for):
                found.add(alias.local + name[len(stands_for) :])
    return found


def _aliases(module: PythonModule) -> Iterator[Alias]:
    for scope in module.table.scopes.values():
        for local, bindings in scope.bindings.items():
            for binding in bindings:
                if binding.kind == "import":
                    yield Alias(local, binding.target, scope, is_import=True)
                elif binding.kind == "value" and isinstance(binding.node, (ast.Name, ast.Attribute)):
                    yield Alias(local, ".".join(dotted(binding.node) or ()), scope, is_import=False)


def _broken(text: str, last: str) -> Iterator[int]:
    """The last segment of a name that goes over white space: ``torch .load``, or on a line of its own."""
    for start in occurrences(text, last):
        head = text[max(0, start - 200) : start].rstrip()
        if head.endswith(".") and (head[-2:-1].isspace() or text[start - 1].isspace()):
            yield start
