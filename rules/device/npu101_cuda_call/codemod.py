"""``x.cuda()`` -> ``x.npu()``, unbound methods, and the program's own methods of that name."""

from __future__ import annotations

import ast
import re

import libcst as cst

from npu_migrate.engine.branches import VENDOR_NAMES
from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.values.devices import Devices
from npu_migrate.values.methods import OwnMethods
from npu_migrate.values.numbers import is_int

# Objects that hold options: what is read from them is a value, whatever it is called.
HOLDERS = frozenset("args arg opt opts options cfg config conf params hparams flags FLAGS settings".split())
# What modules are called; tensors take any device, but torch_npu's Module.npu takes an index only.
MODULE = re.compile(
    r"(model|net|network|module|encoder|decoder|backbone|criterion|loss_fn|generator|discriminator)\d*$",
    re.IGNORECASE,
)
INDEX = re.compile(r"(^|_)(id|ids|idx|index|rank)(_|$|\d)")
HIDDEN = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
TENSOR_TYPES = ("torch.Tensor", "torch.nn.Module", "torch.nn.Parameter", "torch.nn.parameter.Parameter")


class CudaCall(Rule):
    """Renames the method, wherever it is called, handed on or defined."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        func = original.func
        if not isinstance(func, cst.Attribute) or func.attr.value != "cuda":
            return updated
        owner = self._owner(func)
        if _is_torch_name(owner):
            return updated
        if owner is not None and not owner.startswith(TENSOR_TYPES):
            self._keep_foreign(func, owner)
            return updated
        receiver = self.expression(func.value)
        if receiver is not None and self._methods.is_value(receiver):
            self.report(func, Status.MANUAL, "own-value", at=func.attr, name=self.work.code(func))
            return updated
        self.need_import("torch_npu", original)
        if self._moves_module_to_device(original):
            new = updated.with_changes(func=_renamed(updated.func, "to"))
            return self.rewrite(original, updated, new, "to", at=func.attr, symbol="torch.nn.Module.cuda", after="to")
        new = updated.with_changes(func=_renamed(updated.func))
        return self.rewrite(original, updated, new, "renamed", at=func.attr, symbol="torch.Tensor.cuda", after="npu")

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        if original.attr.value != "cuda" or (isinstance(self.parent, cst.Call) and self.parent.func is original):
            return updated
        owner = self._owner(original)
        if _is_torch_name(owner):
            return updated
        if any(isinstance(above, (cst.Import, cst.ImportFrom)) for above in self.work.stack):
            return updated
        name = self.work.code(original)
        if owner is None and isinstance(self.parent, cst.Attribute):
            return self._judge_part(original, updated, name)
        if owner is None:
            return self._judge_value(original, updated, name)
        if not owner.startswith(TENSOR_TYPES):
            self._keep_foreign(original, owner)
            return updated
        new = _renamed(updated)
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, new, "unbound", symbol=owner, name=name, new=self.work.code(new))

    def leave_FunctionDef(self, original: cst.FunctionDef, updated: cst.FunctionDef) -> cst.FunctionDef:
        scope = self.work.scope_of(original)
        if original.name.value != "cuda" or not scope.is_class:
            return updated
        if "npu" in scope.bindings:
            self.report(original, Status.KEPT, "has-npu", at=original.name)
        elif any(name in scope.bindings for name in VENDOR_NAMES):
            self.report(original, Status.MANUAL, "definition", at=original.name)
        if not self._methods.renamed(scope):
            return updated
        new = updated.with_changes(name=cst.Name("npu"))
        return self.rewrite(original, updated, new, "definition", at=original.name, after="npu")

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.Name:
        """The method under its bare name in the body of its class: ``to_gpu = cuda``, ``cuda = lambda self: ...``."""
        if original.value != "cuda" or self.is_part_of_name(original) or isinstance(self.parent, cst.Attribute):
            return updated
        if not self._methods.renamed(self.work.scope_of(original)) or self._is_in_function(original):
            return updated
        twin = self.expression(original)
        key = "definition" if isinstance(twin, ast.Name) and isinstance(twin.ctx, ast.Store) else "own-name"
        return self.rewrite(original, updated, updated.with_changes(value="npu"), key)

    @property
    def _methods(self) -> OwnMethods:
        return OwnMethods.of(self.work.module, "cuda", "npu")

    def _is_in_function(self, name: cst.Name) -> bool:
        """Whether a name stands in a lambda or comprehension, which do not see the names of the class body."""
        twin = self.expression(name)
        return twin is not None and any(isinstance(above, HIDDEN) for above in self.work.module.ancestors(twin))

    def _moves_module_to_device(self, call: cst.Call) -> bool:
        """``model.cuda(device)`` with a device that is no index: torch_npu would make a device of it once more."""
        twin = self.expression(call)
        if (
            not isinstance(twin, ast.Call)
            or not isinstance(twin.func, ast.Attribute)
            or not _is_module(twin.func.value)
        ):
            return False
        given = [*twin.args, *(k.value for k in twin.keywords if k.arg == "device")]
        if len(given) != 1 or isinstance(given[0], ast.Starred) or INDEX.search(ast.unparse(given[0])):
            return False
        module = self.work.module
        return Devices(module).is_device(given[0]) and not is_int(module, given[0]) and not self._may_be_none(given[0])

    def _may_be_none(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Name):
            return False
        module = self.work.module
        scope = module.names.binding_scope(value.id, module.scope_at(module.range_of(value)[0]))
        bindings = scope.bindings.get(value.id, ()) if scope is not None else ()
        return any(isinstance(b.node, ast.Constant) and b.node.value is None for b in bindings)

    def _owner(self, func: cst.Attribute) -> str | None:
        """The absolute name of the attribute, where an import settles it."""
        return self.qualified_name(func) if dotted(func) else None

    def _keep_foreign(self, func: cst.Attribute, owner: str) -> None:
        self.report(
            func, Status.KEPT, "foreign", at=func.attr, name=self.work.code(func), owner=owner.split(".", maxsplit=1)[0]
        )

    def _judge_value(self, node: cst.Attribute, updated: cst.Attribute, name: str) -> cst.BaseExpression:
        parts = dotted(node) or [""]
        holder = parts[-2] if len(parts) > 1 else ""
        is_option = holder in HOLDERS or holder.endswith(("args", "config", "cfg")) or not self._is_read(node)
        receiver = self.expression(node.value)
        is_torch = receiver is not None and parts[:-1] != ["self"] and self._methods.is_torch(receiver)
        if is_option or (not is_torch and self._is_tested_or_own(node, parts)):
            self.report(node, Status.KEPT, "flag", at=node.attr, name=name)
            return updated
        if not is_torch:
            self.report(node, Status.MANUAL, "method-value", at=node.attr, name=name)
            return updated
        new = _renamed(updated)
        self.need_import("torch_npu", node)
        return self.rewrite(
            node, updated, new, "unbound", at=node.attr, name=name, new=self.work.code(new), after="npu"
        )

    def _judge_part(self, node: cst.Attribute, updated: cst.Attribute, name: str) -> cst.BaseExpression:
        """``x.cuda.synchronize``: a part of PyTorch if ``x`` is that, else something of the program's own."""
        parts = dotted(node) or [""]
        if parts[-2:-1] and parts[-2] in HOLDERS:
            self.report(node, Status.KEPT, "flag", at=node.attr, name=name)
        else:
            owner = self.work.code(node.value)
            self.report(node, Status.MANUAL, "part", at=node.attr, name=name, owner=owner)
        return updated

    def _is_read(self, node: cst.Attribute) -> bool:
        twin = self.expression(node)
        return isinstance(twin, ast.Attribute) and isinstance(twin.ctx, ast.Load)

    def _is_tested_or_own(self, node: cst.Attribute, parts: list[str]) -> bool:
        """Whether an attribute is a condition, or a field of the object whose method reads it."""
        twin = self.expression(node)
        above = self.work.module.parent(twin) if twin is not None else None
        if isinstance(above, ast.IfExp):
            return above.test is twin
        return isinstance(above, (ast.If, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.While, ast.Assert)) or (
            parts[:-1] == ["self"] and not isinstance(above, ast.Call)
        )


def _is_torch_name(name: str | None) -> bool:
    """Whether an attribute is a name of PyTorch's, no method of an object: ``torch.cuda``, ``torch.version.cuda``."""
    return name is not None and name.startswith("torch.") and not name.startswith(TENSOR_TYPES)


def _is_module(receiver: ast.expr) -> bool:
    """Whether a value is a module by its name, or by being made on the spot from a class."""
    if isinstance(receiver, ast.Call):
        name = receiver.func.attr if isinstance(receiver.func, ast.Attribute) else getattr(receiver.func, "id", "")
        return name[:1].isupper()
    name = receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", "")
    return MODULE.search(name) is not None


def _renamed(func: cst.BaseExpression, name: str = "npu") -> cst.Attribute:
    attribute = cst.ensure_type(func, cst.Attribute)
    return attribute.with_changes(attr=attribute.attr.with_changes(value=name))
