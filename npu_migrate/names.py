"""What does ``amp.autocast`` mean here? Imports, aliases, scopes, and names handed on between files of the tree."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Callable, NamedTuple, Optional

if TYPE_CHECKING:
    from npu_migrate.engine.statements import Binding, Scope, StatementTable

MAX_HOPS = 8


class Meaning(NamedTuple):
    """What a dotted expression stands for.

    ``name`` is its absolute dotted name (``torch.cuda.amp.autocast``) or None. ``spelled`` tells how many of the last
    segments of ``name`` stand in the expression itself; the others come from an import or an alias elsewhere.
    ``kind`` is ``import``, ``value`` (an alias made by assignment), ``def``, ``class``, ``param``, ``local``,
    ``unbound`` or ``ambiguous``. ``via`` names the file of the tree through which the name came.
    """

    name: str | None
    kind: str
    spelled: int = 0
    via: str = ""


UNKNOWN = Meaning(None, "local")
Follow = Callable[[str, str], Optional[Meaning]]


def dotted(node: ast.AST | None) -> list[str] | None:
    """``a.b.c`` as its segments; None for anything but names and attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    parts.reverse()
    return parts


class Names:
    """Resolves names of one module. ``follow`` looks into the other files of the tree."""

    def __init__(self, table: StatementTable, path: str = "", follow: Follow | None = None) -> None:
        self.table = table
        self.path = path
        self.follow = follow
        self._known: dict[tuple[int, str], Meaning] = {}

    def meaning(self, parts: list[str], scope: Scope) -> Meaning:
        """Resolve a dotted expression that stands in ``scope``."""
        head = self.head(parts[0], scope)
        if head.name is None or len(parts) == 1:
            return head
        name = ".".join([head.name, *parts[1:]])
        if self.follow is not None and head.kind == "import" and not head.via:
            followed = self.follow(name, self.path)
            if followed is not None and followed.name is not None:
                return followed
        return Meaning(name, head.kind, head.spelled + len(parts) - 1, head.via)

    def head(self, name: str, scope: Scope) -> Meaning:
        """Resolve a single name that stands in ``scope``."""
        key = (id(scope), name)
        if key not in self._known:
            self._known[key] = UNKNOWN  # cuts cycles such as ``amp = amp``
            self._known[key] = self._lookup(name, scope)
        return self._known[key]

    def binding_scope(self, name: str, scope: Scope) -> Scope | None:
        """The scope whose binding a name in ``scope`` refers to, by Python's own rules; None where nothing binds it."""
        current: Scope | None = scope
        while current is not None:
            if current is scope or not current.is_class:
                found, declared = current.bindings.get(name), current.elsewhere.get(name)
                # A function that imports for all others still knows best what it has imported.
                if found and (declared is None or (declared == "global" and all(b.kind == "import" for b in found))):
                    return current
                if declared == "global":
                    return self.table.module if name in self.table.module.bindings else None
            current = current.parent
        return None

    def _lookup(self, name: str, scope: Scope) -> Meaning:
        owner = self.binding_scope(name, scope)
        if owner is None:
            return self._from_star(name)
        return self._weigh(owner.bindings[name], owner)

    def _weigh(self, bindings: list[Binding], scope: Scope) -> Meaning:
        """Several bindings mean one thing if they are the usual fallbacks of an import; else nothing is certain."""
        imports = [b for b in bindings if b.kind == "import"]
        rest = [b for b in bindings if b.kind != "import" and not _is_placeholder(b)]
        if imports:
            if any(b.kind in ("value", "other", "param") for b in rest):
                return Meaning(None, "ambiguous")
            meanings = [self._imported(b.target) for b in imports]
            torch = [m for m in meanings if m.name and m.name.split(".")[0] == "torch"]
            return (torch or meanings)[0]
        if any(b.kind == "param" for b in bindings):
            return Meaning(None, "param")
        if len(rest) == 1 and rest[0].kind == "value":
            return self._alias(rest[0].node, scope)
        return Meaning(None, rest[0].kind if len(rest) == 1 and rest[0].kind in ("def", "class") else "local")

    def _alias(self, value: ast.AST | None, scope: Scope) -> Meaning:
        parts = dotted(value)
        if parts is None:
            return UNKNOWN
        meaning = self.meaning(parts, scope)
        return Meaning(meaning.name, "value", 0, meaning.via) if meaning.name else UNKNOWN

    def _imported(self, target: str) -> Meaning:
        if self.follow is not None:
            followed = self.follow(target, self.path)
            if followed is not None:
                return followed._replace(spelled=0)
        return Meaning(target, "import", 1 if "." not in target else 0)

    def _from_star(self, name: str) -> Meaning:
        for origin in self.table.module.stars:
            if self.follow is not None:
                followed = self.follow(f"{origin}.{name}", self.path)
                if followed is not None and followed.name is not None:
                    return followed._replace(spelled=0)
        for origin in self.table.module.stars:
            if name in STAR_NAMES.get(origin, ()):
                return Meaning(f"{origin}.{name}", "import")
        return Meaning(None, "unbound")


STAR_NAMES = {
    "torch": ("cuda", "device", "distributed", "backends", "amp", "autocast", "Tensor", "Generator", "load"),
    "torch.cuda": ("amp", "is_available", "device_count", "synchronize", "empty_cache", "current_device", "set_device"),
    "torch.cuda.amp": ("autocast", "GradScaler", "custom_fwd", "custom_bwd"),
    "torch.distributed": ("init_process_group", "is_nccl_available", "new_group"),
    "torch.nn": ("DataParallel",),
    "torch.backends": ("cudnn", "cuda"),
}


def _is_placeholder(binding: Binding) -> bool:
    """``torch = None`` beside an import: what a file does where the package is missing."""
    if binding.kind in ("def", "class"):
        return False
    return isinstance(binding.node, ast.Constant) and not isinstance(binding.node.value, str)
