"""``x.cuda()`` -> ``x.npu()``, unbound methods, and the program's own methods of that name."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.values.classes import OwnClasses
from npu_migrate.values.devices import Devices
from npu_migrate.values.numbers import is_int

if TYPE_CHECKING:
    from npu_migrate.engine.statements import Binding

# Objects that hold options: what is read from them is a value, whatever it is called.
HOLDERS = frozenset("args arg opt opts options cfg config conf params hparams flags FLAGS settings".split())
# What modules are called; tensors take any device, but torch_npu's Module.npu takes an index only.
MODULE = re.compile(
    r"(model|net|network|module|encoder|decoder|backbone|criterion|loss_fn|generator|discriminator)\d*$",
    re.IGNORECASE,
)
INDEX = re.compile(r"(^|_)(id|ids|idx|index|rank)(_|$|\d)")
TENSOR_TYPES = ("torch.Tensor", "torch.nn.Module", "torch.nn.Parameter", "torch.nn.parameter.Parameter")


class CudaCall(Rule):
    """Renames the method, wherever it is called, handed on or defined."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        func = original.func
        if not isinstance(func, cst.Attribute) or func.attr.value != "cuda":
            return updated
        owner = self._owner(func)
        if owner == "torch.cuda":
            return updated
        if owner is not None and not owner.startswith(TENSOR_TYPES):
            self._keep_foreign(func, owner)
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
        if owner == "torch.cuda":
            return updated
        name = self.work.code(original)
        if owner is None:
            return self._judge_value(original, updated, name)
        if not owner.startswith(TENSOR_TYPES):
            self._keep_foreign(original, owner)
            return updated
        new = _renamed(updated)
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, new, "unbound", symbol=owner, name=name, new=self.work.code(new))

    def leave_FunctionDef(self, original: cst.FunctionDef, updated: cst.FunctionDef) -> cst.FunctionDef:
        if original.name.value != "cuda" or not self.work.scope_of(original).is_class:
            return updated
        new = updated.with_changes(name=cst.Name("npu"))
        return self.rewrite(original, updated, new, "definition", at=original.name, after="npu")

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        """``to_gpu = cuda`` and ``cuda = lambda self: self`` in the body of a class whose method is renamed."""
        if original.value != "cuda" or self.is_part_of_name(original):
            return updated
        scope = self.work.scope_of(original)
        if not scope.is_class or "npu" in scope.bindings or not any(map(_is_method, scope.bindings.get("cuda", ()))):
            return updated
        return self.rewrite(original, updated, updated.with_changes(value="npu"), "definition")

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
        twin = self.expression(node)
        if isinstance(twin, ast.Attribute) and OwnClasses.of(self.work.module, "cuda").is_torch(twin.value):
            new = _renamed(updated)
            self.need_import("torch_npu", node)
            return self.rewrite(node, updated, new, "unbound", name=name, new=self.work.code(new))
        self._leave_value(node, name)
        return updated

    def _leave_value(self, node: cst.Attribute, name: str) -> None:
        parts = dotted(node) or [""]
        if (
            parts[-2:-1] and (parts[-2] in HOLDERS or parts[-2].endswith(("args", "config", "cfg")))
        ) or self._is_tested_or_set(node):
            self.report(node, Status.KEPT, "flag", at=node.attr, name=name)
        else:
            self.report(node, Status.MANUAL, "method-value", at=node.attr, name=name)

    def _is_tested_or_set(self, node: cst.Attribute) -> bool:
        twin = self.expression(node)
        if not isinstance(twin, ast.Attribute) or not isinstance(twin.ctx, ast.Load):
            return True
        above = self.work.module.parent(twin)
        if isinstance(above, ast.IfExp):
            return above.test is twin
        return isinstance(above, (ast.If, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.While, ast.Assert)) or (
            (parts := dotted(node)) is not None and parts[:1] == ["self"] and not isinstance(above, ast.Call)
        )


def _is_method(binding: Binding) -> bool:
    return binding.kind == "def" or isinstance(binding.node, ast.Lambda)


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
