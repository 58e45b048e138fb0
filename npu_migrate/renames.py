"""What a name of ``torch.cuda`` becomes in a release, and how far an import of it reaches.

The rules for imports and for uses decide apart from each other, and both have to decide alike.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.trees import walk

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.statements import Scope
    from npu_migrate.target import Target

ROOT = "torch.cuda"

# The first torch_npu release that raises or offers a plain torch name.
_SINCE = {"torch.OutOfMemoryError": (2, 7, 1)}
_NPU = re.compile(r"\bnpu\b|\bnpu-migrate\b|__all__")
_CODE = re.compile(r"(?<![\w.])cuda\.[A-Za-z_]")


def is_cuda(name: str | None) -> bool:
    """Whether an absolute name is ``torch.cuda`` or below it."""
    return name is not None and f"{name}.".startswith(f"{ROOT}.")


def npu_name(target: Target, name: str) -> str | None:
    """The name that takes the place of a ``torch.cuda`` name; None where the release has nothing that does the same.

    What the release does not list by itself (an attribute, a method) is judged by the class or function it belongs to.
    """
    parts = name.split(".")
    if name == ROOT:
        return "torch.npu"
    for length in range(len(parts), 2, -1):
        known = ".".join(parts[:length])
        rest = name[len(known) :]
        new = _direct(target, known)
        if new is not None and (not rest or target.kind(new) != "module"):
            return new + rest
    return None


def _direct(target: Target, name: str) -> str | None:
    found = target.cuda_name(name)
    if found.exists and found.npu:
        return found.npu
    instead = found.instead
    same = instead.rpartition(".")[2] == name.rpartition(".")[2]  # under another word it is advice, not a replacement
    return instead if same and version(target) >= _SINCE.get(instead, (0,)) else None


def version(target: Target) -> tuple[int, ...]:
    """The torch version of a target as numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", target.torch)[:3])


def importable(target: Target, name: str) -> str | None:
    """The absolute name under which an import of a ``torch.cuda`` name finds its replacement; None if no import can."""
    new = npu_name(target, name)
    if new is None:
        return None
    path = spelled(new)
    parent = path.rpartition(".")[0]
    return path if parent in ("torch", "torch_npu") or target.kind(parent) == "module" else None


def spelled(name: str) -> str:
    """A name as imports must write it: ``torch.npu`` is an attribute, and importing from it loads a second copy."""
    return f"torch_npu{name[len('torch') :]}" if f"{name}.".startswith("torch.npu.") else name


def lost_by_star(module: PythonModule, target: Target, base: str) -> list[str]:
    """The names that a file takes from ``from base import *`` and that would be missing if the import were moved.

    ``base`` itself, if nothing takes its place.
    """
    return module.fact(f"star {base}", lambda: _lost_by_star(module, target, base))


def _lost_by_star(module: PythonModule, target: Target, base: str) -> list[str]:
    found = importable(target, base)
    if found is None:
        return [base]
    used = {node.id: node for node in walk(module.tree) if isinstance(node, ast.Name)}
    brought = [name for name in used if target.has_cuda(f"{base}.{name}")]
    free = [name for name in brought if name not in module.table.module.bindings]
    return sorted(name for name in free if not target.has(f"{found}.{name}"))


def star_origin(module: PythonModule, name: str, scope: Scope) -> str:
    """The part of ``torch.cuda`` whose star import gives the file a name; empty if it comes from elsewhere."""
    if module.names.binding_scope(name, scope) is not None:
        return ""
    meant = module.names.head(name, scope).name or ""
    origin = meant.rpartition(".")[0]
    return origin if is_cuda(origin) and origin in module.table.module.stars else ""


def frees_name(module: PythonModule, target: Target) -> bool:
    """Whether ``from torch import cuda`` may become ``from torch_npu import npu``, with every use renamed.

    Only where nobody else can miss the old name, and nothing has the new one.
    """
    return module.fact("frees cuda", lambda: _frees_name(module, target))


def _frees_name(module: PythonModule, target: Target) -> bool:
    scopes = [scope for scope in module.table.scopes.values() if "cuda" in scope.bindings or "cuda" in scope.elsewhere]
    if scopes != [module.table.module] or len(scopes[0].bindings["cuda"]) != 1:
        return False
    if module.path.endswith("__init__.py") or _NPU.search(module.text) is not None:
        return False
    module.index(module.tree)
    return _is_imported(module) and all(_may_be_renamed(module, node, target) for node in walk(module.tree))


def _is_imported(module: PythonModule) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "torch"
        and not node.level
        and any(alias.name == "cuda" and alias.asname is None for alias in node.names)
        for node in walk(module.tree)
    )


def _may_be_renamed(module: PythonModule, node: ast.AST, target: Target) -> bool:
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str) or _CODE.search(node.value) is None
    if isinstance(node, ast.arg):
        return node.arg != "cuda"
    if not isinstance(node, ast.Name) or node.id != "cuda":
        return True
    name, above = ROOT, module.parent(node)
    while isinstance(above, ast.Attribute):
        name, above = f"{name}.{above.attr}", module.parent(above)
    return isinstance(node.ctx, ast.Load) and npu_name(target, name) is not None
