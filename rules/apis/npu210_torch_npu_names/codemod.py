"""Names of torch_npu that the release does not have, and ``transfer_to_npu``."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate.renames import version
from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.values.origins import maker

SHIM = "torch_npu.contrib.transfer_to_npu"
STATS = frozenset(f"{space}memory_stats" for space in ("torch.cuda.", "torch.npu.", "torch_npu.npu."))
FORMAT_CAST = "npu_format_cast"
FRACTAL_NZ = "29"
METHOD_GONE = (2, 3)  # the first release without the method of tensors


class TorchNpuNames(Rule):
    """Checks what the program already takes from torch_npu against the release."""

    heeds_vendors = False

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        twin = self.expression(original)
        if not self.is_part_of_name(original) and isinstance(getattr(twin, "ctx", None), ast.Load):
            meaning = self.meaning(original)
            name = meaning.name or ""
            imported = ".".join(name.split(".")[: len(name.split(".")) - meaning.spelled])
            if self._absent(imported) is None:
                self._check(original, name)
        return updated

    def leave_Import(self, original: cst.Import, updated: cst.Import) -> cst.Import:
        for alias in original.names:
            self._check(alias, ".".join(dotted(alias.name) or []))
        return updated

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> cst.ImportFrom:
        base = ".".join(dotted(original.module) or [])
        if original.relative or not f"{base}.".startswith("torch_npu."):
            return updated
        if isinstance(original.names, cst.ImportStar) or self._absent(base) is not None:
            self._check(original, base)
            return updated
        for alias in original.names:
            self._check(alias, f"{base}.{alias.evaluated_name}")
        return updated

    def leave_Subscript(self, original: cst.Subscript, updated: cst.Subscript) -> cst.BaseExpression:
        index = original.slice[0].slice
        key = index.value if isinstance(index, cst.Index) else None
        if isinstance(key, cst.SimpleString) and key.raw_value in self.table["no_keys"]:
            twin = self.expression(original.value)
            if maker(self.work.module, twin) in STATS:
                self.report(key, Status.UNSUPPORTED, "no-key", name=key.raw_value)
        return updated

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        func = original.func
        if not isinstance(func, cst.Attribute) or func.attr.value != FORMAT_CAST:
            return updated
        is_function = self.qualified_name(func) == f"torch_npu.{FORMAT_CAST}"
        if not is_function and version(self.target) >= METHOD_GONE:
            self.report(func.attr, Status.UNSUPPORTED, "method", release=self.target.torch_npu)
        last = original.args[-1].value if original.args else None
        if isinstance(last, cst.Integer) and last.value == FRACTAL_NZ:
            self.report(last, Status.ADVICE, "format")
        return updated

    def _check(self, at: cst.CSTNode, name: str) -> None:
        if f"{name}.".startswith(f"{SHIM}."):
            self.report(at, Status.MANUAL, "shim", symbol=name)
        elif name in self.table["advice"]:
            self.report(at, Status.ADVICE, name, symbol=name, name=name)
        else:
            absent = self._absent(name)
            if absent is not None:
                key = self.nearest_message(absent, "absent")
                sure = key != "absent" or absent.rpartition(".")[0] in self.table["complete"]
                status, key = (Status.UNSUPPORTED, key) if sure else (Status.ADVICE, "unlisted")
                self.report(at, status, key, symbol=name, name=absent, release=self.target.torch_npu)

    def _absent(self, name: str) -> str | None:
        """The shortest prefix of a name that the release lacks; None for private names and members of objects."""
        parts = name.split(".")
        if parts[:2] == ["torch", "npu"]:
            parts[:2] = ["torch_npu", "npu"]
        if parts[0] != "torch_npu":
            return None
        known = parts[0]
        for part in parts[1:]:
            if part.startswith("_") or self.target.kind(known) != "module":
                return None
            known = f"{known}.{part}"
            if not self.target.has(known):
                return known
        return None
