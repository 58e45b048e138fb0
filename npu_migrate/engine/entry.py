"""Which files are entry points: where ``--imports entry`` puts the one import of torch_npu."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from npu_migrate.engine.imports import torch_imports

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.project import Project

IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([^#\n]+)|import[ \t]+([^#\n]+))", re.MULTILINE)
WORD = re.compile(rb"\w+")


def needs_import(module: PythonModule, project: Project) -> bool:
    """Whether a program may start in this file and PyTorch comes into it, here or through other files of the tree."""
    starts = _has_main(module) or PurePosixPath(module.path).stem.encode() not in imported_names(project)
    return starts and (bool(torch_imports(module)) or _imports_tree(module, project))


def imported_names(project: Project) -> frozenset[bytes]:
    """Every word that some import of the tree mentions; a module that is imported is among them."""
    if project.imported is None:
        found: set[bytes] = set()
        for path in project.files.values():
            try:
                data = path.read_bytes()
            except OSError:
                continue
            for match in IMPORTED.finditer(data):
                found.update(word for part in match.groups() if part for word in WORD.findall(part))
        project.imported = frozenset(found)
    return project.imported


def _has_main(module: PythonModule) -> bool:
    tests = (node.test for node in module.tree.body if isinstance(node, ast.If))
    return any("__name__" in ast.dump(test) and "__main__" in ast.dump(test) for test in tests)


def _imports_tree(module: PythonModule, project: Project) -> bool:
    bindings = (b for found in module.table.module.bindings.values() for b in found if b.kind == "import")
    return any(project.holds(binding.target, module.path) for binding in bindings)
