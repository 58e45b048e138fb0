"""``DataLoader(pin_memory=True)`` and ``tensor.pin_memory()``: for which device memory is pinned."""

from __future__ import annotations

import libcst as cst

from npu_migrate.calls import keyword_of, with_keyword
from npu_migrate.renames import version
from npu_migrate.rule import Rule, Status, dotted

LOADER = "torch.utils.data.DataLoader"
NAMED = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
BY_ITSELF = (2, 8)  # PyTorch pins for the accelerator it finds
BY_DEVICE = (2, 1)  # torch_npu pins where it is told the device


class PinMemory(Rule):
    """Does what the setting ``pin-memory`` says; ``auto`` is what the target release needs."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        func = original.func
        if isinstance(func, cst.Attribute) and func.attr.value == "pin_memory":
            return self._tensor(original, updated, func) if not original.args else updated
        pin = keyword_of(original, "pin_memory")
        if pin is None or pin.keyword is None or not self._is_loader(func) or self.work.code(pin.value) == "False":
            return updated
        if keyword_of(original, "pin_memory_device") is None and not any(arg.star for arg in original.args):
            return self._loader(original, updated, pin)
        return updated

    def leave_DictElement(self, original: cst.DictElement, updated: cst.DictElement) -> cst.DictElement:
        key = original.key
        known = isinstance(key, cst.SimpleString) and key.evaluated_value == "pin_memory"
        if known and self.work.code(original.value) == "True" and self._mode() == "npu":
            self.report(key, Status.ADVICE, "dict", symbol=LOADER, release=self.target.torch_npu)
        return updated

    def _tensor(self, original: cst.Call, updated: cst.Call, func: cst.Attribute) -> cst.BaseExpression:
        if self.qualified_name(func) is not None:
            return updated
        mode = self._mode()
        if mode == "npu":
            new = updated.with_changes(args=[cst.Arg(cst.SimpleString('"npu"'))])
            return self._put(original, updated, new, "tensor", func.attr)
        if mode == "off":
            self.report(func.attr, Status.MANUAL, "tensor-off", symbol=LOADER)
        else:
            self._keep(func.attr)
        return updated

    def _loader(self, original: cst.Call, updated: cst.Call, pin: cst.Arg) -> cst.BaseExpression:
        mode, own = self._mode(), self.qualified_name(original.func) in NAMED
        if mode == "off":
            args = [
                arg.with_changes(value=cst.Name("False")) if old is pin else arg
                for old, arg in zip(original.args, updated.args)
            ]
            return self._put(original, updated, updated.with_changes(args=args), "off", pin.keyword)
        if mode == "npu" and own:
            return self._put(
                original, updated, with_keyword(updated, "pin_memory_device", "npu"), "loader", pin.keyword
            )
        if mode == "npu":
            self.report(pin, Status.ADVICE, "other-loader", symbol=LOADER, release=self.target.torch_npu)
        else:
            self._keep(pin)
        return updated

    def _put(
        self, original: cst.Call, updated: cst.Call, new: cst.Call, key: str, at: cst.CSTNode | None
    ) -> cst.BaseExpression:
        if key != "off":
            self.need_import("torch_npu", original, beside_torch=True)
        release = self.target.torch_npu
        return self.rewrite(original, updated, new, key, at=at, symbol=LOADER, release=release)

    def _is_loader(self, func: cst.BaseExpression) -> bool:
        """PyTorch's own class, or one that is called like a child of it."""
        parts = dotted(func) or [""]
        return self.qualified_name(func) in NAMED or parts[-1].endswith("DataLoader")

    def _mode(self) -> str:
        """``npu``, ``off`` or ``keep``."""
        if self.settings.pin_memory != "auto":
            return self.settings.pin_memory
        torch = version(self.target)
        if torch >= BY_ITSELF:
            return "keep"
        return "npu" if torch >= BY_DEVICE else "off"

    def _keep(self, at: cst.CSTNode) -> None:
        key = "by-itself" if self.settings.pin_memory == "auto" else "kept"
        self.report(at, Status.KEPT, key, symbol=LOADER, torch=self.target.torch)
