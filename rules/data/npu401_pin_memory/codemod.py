"""``DataLoader(pin_memory=True)`` and ``tensor.pin_memory()``: for which device memory is pinned."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate import names
from npu_migrate.calls import keyword_of, with_keyword
from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.structure.options import expanded_into

LOADER = "torch.utils.data.DataLoader"
NAMED = frozenset(["torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"])
POSITION = 7  # of pin_memory among the loader's parameters
PARTIAL = "functools.partial"
KEYWORDS = ("pin_memory", "dataloader_pin_memory")
SUPER = "super().__init__"
OFF = ("False", "None")


class PinMemory(Rule):
    """Does what the setting ``pin-memory`` says; ``auto`` is what the target release needs."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        func = original.func
        if isinstance(func, cst.Attribute) and func.attr.value == "pin_memory":
            return self._tensor(original, updated, func) if not original.args else updated
        pin = self._pin(original)
        if pin is None or self.work.code(pin.value) in OFF or keyword_of(original, "pin_memory_device") is not None:
            return updated
        if self._is_loader(original):
            return self._loader(original, updated, pin)
        if self._collects(func):
            return self._options(original, updated, pin)
        name = self.qualified_name(func) or ""
        imported = bool(name) and self.meaning(func).kind == "import" and not name.startswith("torch.")
        if imported or self.work.code(func) == SUPER:
            self._handed_on(pin)
        return updated

    def leave_DictElement(self, original: cst.DictElement, updated: cst.DictElement) -> cst.DictElement:
        on = self._is_key(original.key) and self.work.code(original.value) == "True"
        if on and not (isinstance(self.parent, cst.Dict) and self._goes(self.parent)):
            self._mention(original.key)
        return updated

    def leave_Dict(self, original: cst.Dict, updated: cst.Dict) -> cst.BaseExpression:
        found = [e for e in original.elements if isinstance(e, cst.DictElement) and self._is_key(e.key)]
        if len(found) != 1 or self.work.code(found[0].value) != "True" or not self._goes(original):
            return updated
        mode, at = self.settings.pinning, found[0].key
        if mode == "keep":
            self._keep(at)
            return updated
        elements = list(updated.elements)
        index = list(original.elements).index(found[0])
        if mode == "off":
            elements[index] = elements[index].with_changes(value=cst.Name("False"))
        else:
            device = cst.DictElement(cst.SimpleString('"pin_memory_device"'), cst.SimpleString('"npu"'))
            comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            old = elements[index]
            elements[index : index + 1] = [old.with_changes(comma=comma), device.with_changes(comma=old.comma)]
        return self._put(original, updated, updated.with_changes(elements=elements), self._key(mode), at)

    def leave_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign:
        """``options["pin_memory"] = True``."""
        for target in original.targets:
            node = target.target
            index = node.slice[0].slice if isinstance(node, cst.Subscript) and len(node.slice) == 1 else None
            key = index.value if isinstance(index, cst.Index) else None
            if self._is_key(key) and self.work.code(original.value) == "True":
                self._mention(key)
        return updated

    def _tensor(self, original: cst.Call, updated: cst.Call, func: cst.Attribute) -> cst.BaseExpression:
        if self.qualified_name(func) is not None:
            return updated
        mode = self.settings.pinning
        if mode == "npu":
            new = updated.with_changes(args=[cst.Arg(cst.SimpleString('"npu"'))])
            return self._put(original, updated, new, "tensor", func.attr)
        if mode == "off":
            self.report(func.attr, Status.MANUAL, "tensor-off", symbol=LOADER)
        else:
            self._keep(func.attr)
        return updated

    def _loader(self, original: cst.Call, updated: cst.Call, pin: cst.Arg) -> cst.BaseExpression:
        mode, at = self.settings.pinning, pin.keyword or pin
        if mode == "keep":
            self._keep(pin)
            return updated
        if mode == "npu" and (not self._is_own(original) or any(arg.star for arg in original.args)):
            self._handed_on(pin)
            return updated
        return self._put(original, updated, self._changed(original, updated, pin), self._key(mode), at)

    def _options(self, original: cst.Call, updated: cst.Call, pin: cst.Arg) -> cst.BaseExpression:
        """``dict(pin_memory=True)``, and a dict that is updated with it."""
        if self.qualified_name(original.func) is not None or not self._goes(original):
            self._mention(pin)
            return updated
        if self.settings.pinning == "keep":
            self._keep(pin)
            return updated
        new = self._changed(original, updated, pin)
        return self._put(original, updated, new, self._key(self.settings.pinning), pin.keyword)

    def _changed(self, original: cst.Call, updated: cst.Call, pin: cst.Arg) -> cst.Call:
        if self.settings.pinning == "npu":
            return with_keyword(updated, "pin_memory_device", "npu")
        pairs = zip(original.args, updated.args)
        return updated.with_changes(
            args=[arg.with_changes(value=cst.Name("False")) if old is pin else arg for old, arg in pairs]
        )

    def _put(
        self,
        original: cst.CSTNode,
        updated: cst.BaseExpression,
        new: cst.BaseExpression,
        key: str,
        at: cst.CSTNode | None,
    ) -> cst.BaseExpression:
        if key != "off":
            self.need_import("torch_npu", original, beside_torch=True)
        release = self.target.torch_npu
        return self.rewrite(original, updated, new, key, at=at, symbol=LOADER, release=release)

    def _pin(self, call: cst.Call) -> cst.Arg | None:
        """The argument that switches pinning on, by keyword or by its place."""
        for name in KEYWORDS:
            if (found := keyword_of(call, name)) is not None:
                return found
        first = call.args[: POSITION + 1]
        plain = len(first) > POSITION and all(arg.keyword is None and not arg.star for arg in first)
        return first[POSITION] if plain and self.qualified_name(call.func) in NAMED else None

    def _is_loader(self, call: cst.Call) -> bool:
        """PyTorch's own class, or one that is called like a child of it."""
        called = (self.qualified_name(call.func) or "", (dotted(call.func) or [""])[-1])
        return self._is_own(call) or any(name.endswith("DataLoader") for name in called)

    def _is_own(self, call: cst.Call) -> bool:
        """Whether the arguments reach PyTorch's loader: its class, ``partial`` of it, ``super()`` in a child."""
        name = self.qualified_name(call.func)
        if name == PARTIAL:
            return bool(call.args) and self.qualified_name(call.args[0].value) in NAMED
        return name in NAMED or self._is_super(call.func)

    def _is_super(self, func: cst.BaseExpression) -> bool:
        """``super().__init__`` in a class whose one parent is PyTorch's loader."""
        scope = self.work.scope_of(func)
        owner = scope.parent.node if scope.parent is not None else None
        if not isinstance(owner, ast.ClassDef) or self.work.code(func) != SUPER or len(owner.bases) != 1:
            return False
        parts = names.dotted(owner.bases[0])
        return parts is not None and self.work.module.names.meaning(parts, scope.parent or scope).name in NAMED

    def _collects(self, func: cst.BaseExpression) -> bool:
        """``dict`` or a dict's ``update``."""
        updates = isinstance(func, cst.Attribute) and func.attr.value == "update"
        return updates or (isinstance(func, cst.Name) and func.value == "dict" and self.meaning(func).kind == "unbound")

    def _goes(self, node: cst.BaseExpression) -> bool:
        """Whether a dict is given to PyTorch's loader with ``**`` and to nothing else."""
        twin = self.expression(node)
        return twin is not None and expanded_into(self.work.module, twin, NAMED)

    def _is_key(self, node: cst.CSTNode | None) -> bool:
        return isinstance(node, cst.SimpleString) and node.evaluated_value == "pin_memory"

    def _key(self, mode: str) -> str:
        return "off" if mode == "off" else "loader"

    def _mention(self, at: cst.CSTNode | None) -> None:
        """A dict whose way is not known."""
        keys = {"npu": ("dict", Status.ADVICE), "off": ("dict-off", Status.MANUAL)}
        if at is not None and (said := keys.get(self.settings.pinning)) is not None:
            self.report(at, said[1], said[0], symbol=LOADER, release=self.target.torch_npu)

    def _handed_on(self, pin: cst.Arg) -> None:
        """A call of something else, which may hand it on."""
        keys = {"npu": ("other-loader", Status.ADVICE), "off": ("dict-off", Status.MANUAL)}
        if (said := keys.get(self.settings.pinning)) is not None:
            self.report(pin, said[1], said[0], symbol=LOADER, release=self.target.torch_npu)

    def _keep(self, at: cst.CSTNode) -> None:
        key = "by-itself" if self.settings.pin_memory == "auto" else "kept"
        self.report(at, Status.KEPT, key, symbol=LOADER, torch=self.target.torch)
