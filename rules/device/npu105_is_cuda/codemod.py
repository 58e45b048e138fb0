"""``x.is_cuda`` -> ``x.is_npu``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import last_name, name_of, text_around
from npu_migrate.values.classes import OwnClasses
from npu_migrate.values.guards import guarded

if TYPE_CHECKING:
    import libcst as cst

OLD, NEW = "is_cuda", "is_npu"
HOLDERS = {"args", "opt", "opts", "options", "cfg", "config", "conf", "params", "hparams", "flags", "FLAGS", "settings"}
GETTERS = {"getattr", "hasattr", "attrgetter"}
SETTERS = {"setattr", "delattr"}


class IsCuda(Rule):
    """Judges the object that is asked."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        twin = self.expression(original) if original.attr.value == OLD else None
        if not isinstance(twin, ast.Attribute):
            return updated
        name = self.work.code(original)
        if not isinstance(twin.ctx, ast.Load):
            self.report(original, Status.KEPT, "set", at=original.attr, name=name)
            return updated
        symbol = self.qualified_name(original) or ""
        if self._stays(original.attr, twin.value, name, symbol) or self._guards(original.attr, twin, name):
            return updated
        new = updated.with_changes(attr=updated.attr.with_changes(value=NEW))
        self.need_import("torch_npu", original)
        code = self.work.code(new)
        return self.rewrite(
            original, updated, new, "renamed", at=original.attr, symbol=symbol, after=NEW, name=name, new=code
        )

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        """``getattr(x, "is_cuda")``."""
        twin = self.expression(original) if original.raw_value == OLD else None
        call = self.work.module.parent(twin) if twin is not None else None
        if not isinstance(call, ast.Call) or twin not in call.args:
            return updated
        function, name = last_name(call.func), self.work.code(original)
        if function in SETTERS:
            self.report(original, Status.KEPT, "set", name=name)
            return updated
        if function not in GETTERS or (function != "attrgetter" and self._stays(original, call.args[0], name, "")):
            return updated
        new = updated.with_changes(value=updated.value.replace(OLD, NEW))
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, new, "string", name=name, new=self.work.code(new))

    def _stays(self, place: cst.CSTNode, owner: ast.expr, name: str, symbol: str) -> bool:
        """Report an ``is_cuda`` that is no tensor's, or may be none."""
        new = name.replace(OLD, NEW)
        if symbol and not symbol.startswith("torch."):
            self.report(place, Status.KEPT, "foreign", name=name, owner=symbol.split(".", maxsplit=1)[0])
        elif not symbol and self._is_own(place, owner, name, new):
            return True
        elif f".{NEW}" in text_around(self.work.module, owner):
            self.report(place, Status.KEPT, "own-branch", name=name)
        else:
            return False
        return True

    def _guards(self, place: cst.CSTNode, twin: ast.Attribute, name: str) -> bool:
        """Report a test that keeps tensors which are not CUDA's from a kernel that is."""
        found = guarded(self.module, twin)
        if found is not None:
            status, key = (Status.KEPT, "kernel") if found.otherwise else (Status.MANUAL, "kernel-only")
            self.report(place, status, key, name=name, kernel=found.kernel)
        return found is not None

    def _is_own(self, place: cst.CSTNode, owner: ast.expr, name: str, new: str) -> bool:
        own = OwnClasses.of(self.work.module, OLD)
        known = ", ".join(sorted(node.name for node in own.definers if isinstance(node, ast.ClassDef)))
        if own.has(owner):
            self.report(place, Status.KEPT, "own", name=name, owner=known)
        elif last_name(owner) in HOLDERS:
            self.report(place, Status.KEPT, "flag", name=name)
        elif isinstance(owner, ast.Name) and owner.id == "self":
            if self._inherits_from_torch(own, owner):
                return False
            self.report(place, Status.MANUAL, "inherited", name=name, new=new)
        elif known and not own.is_torch(owner):
            self.report(place, Status.MANUAL, "unsure", name=name, new=new, owner=known)
        else:
            return False
        return True

    def _inherits_from_torch(self, own: OwnClasses, owner: ast.expr) -> bool:
        around = own.enclosing(owner)
        names = [name_of(self.work.module, base) or "" for base in around.bases] if around is not None else []
        return any(name.startswith("torch.") for name in names)
