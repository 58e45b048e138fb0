"""``torch.backends.cudnn.benchmark = True`` and the other switches of cuDNN and cuBLAS."""

from __future__ import annotations

import ast
from typing import Any, Union

import libcst as cst

from npu_migrate.rule import Rule, Status, dotted

MODULES = ("torch.backends.cudnn", "torch.backends.cuda")
ELSEWHERE = "torch.backends.cuda.is_built"  # NPU205 speaks of it
Imports = Union[cst.Import, cst.ImportFrom]


class Backends(Rule):
    """Renames what torch_npu has under the same meaning; says of every other switch what it does on Ascend."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_Import(self, original: cst.Import, updated: cst.Import) -> cst.Import:
        for alias in original.names:
            self._import(alias, ".".join(dotted(alias.name) or []))
        return updated

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> cst.ImportFrom:
        base = ".".join(dotted(original.module) or [])
        if original.relative or not base.startswith("torch.backends"):
            return updated
        if base.startswith(MODULES):
            self.report(original, Status.KEPT, "import", symbol=base, name=base)
        elif not isinstance(original.names, cst.ImportStar):
            for alias in original.names:
                self._import(alias, f"{base}.{alias.evaluated_name}")
        return updated

    def _import(self, alias: cst.ImportAlias, name: str) -> None:
        if name.startswith(MODULES):
            self.report(alias, Status.KEPT, "import", symbol=name, name=name)

    def _judge(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        if self.is_part_of_name(original):
            return updated
        meaning = self.meaning(original)
        name = meaning.name or ""
        row = self._row(name)
        if row is None or meaning.kind == "value":
            return updated
        new = row.get("new")
        if new is not None and (self.target.has(new) or self.target.kind(new.rpartition(".")[0]) == "data"):
            return self._rename(original, updated, name, row)
        self._describe(original, name, row)
        return updated

    def _row(self, name: str) -> dict[str, Any] | None:
        names: dict[str, dict[str, Any]] = self.table["names"]
        if name == ELSEWHERE:
            return None
        known = self.nearest_message(name, "")
        return names.get(name) or (names.get(known, {"status": "kept"}) if known else None)

    def _rename(
        self, original: cst.BaseExpression, updated: cst.BaseExpression, name: str, row: dict[str, Any]
    ) -> cst.BaseExpression:
        if not isinstance(original, cst.Attribute) or not self._takes(original, row.get("keywords")):
            self.report(original, Status.KEPT, "same-switch", symbol=name, name=name)
            return updated
        head = self._torch(original)
        new = cst.parse_expression(row["new"].replace("torch", head, 1) if head else f"torch_npu{row['new'][5:]}")
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, new, "renamed", symbol=name, name=name, new=row["new"])

    def _torch(self, original: cst.BaseExpression) -> str:
        """What the expression itself calls torch, if it does."""
        head = (dotted(original) or [""])[0]
        is_torch = self.work.module.names.head(head, self.work.scope_of(original)).name == "torch"
        return head if is_torch else ""

    def _takes(self, original: cst.BaseExpression, keywords: list[str] | None) -> bool:
        """Whether the counterpart has every parameter that this call uses."""
        call = self.parent
        if keywords is None or not isinstance(call, cst.Call) or call.func is not original:
            return keywords is None
        return all(arg.star == "" and (arg.keyword is None or arg.keyword.value in keywords) for arg in call.args)

    def _describe(self, original: cst.BaseExpression, name: str, row: dict[str, Any]) -> None:
        value = self._value(original)
        status = row.get("status", Status.KEPT.value)
        if value is not None:
            status = row.get("when_true" if value else "when_false", status)
        key = self.nearest_message(name, MODULES[0])
        if value is not None and f"{key}={value}" in self.info.messages:
            key = f"{key}={value}"
        needs = self.table["names"].get(key, {}).get("needs", "")
        if needs and not self.target.has(needs):
            status, key = Status.UNSUPPORTED.value, f"{key}=absent"
        self.report(original, Status(status), key, symbol=name, name=name, release=self.target.torch_npu)

    def _value(self, original: cst.BaseExpression) -> bool | None:
        """The constant that is assigned to a switch."""
        twin = self.expression(original)
        above = self.work.module.parent(twin) if twin is not None else None
        value = above.value if isinstance(above, (ast.Assign, ast.AnnAssign)) and above.value is not twin else None
        return value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None
