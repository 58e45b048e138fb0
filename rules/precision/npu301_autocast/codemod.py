"""``torch.get_autocast_gpu_dtype()``, ``torch.is_autocast_enabled()``: the state of CUDA's autocast."""

from __future__ import annotations

import libcst as cst

from npu_migrate.rule import Rule, Status, dotted


class Autocast(Rule):
    """Asks and sets the state of the NPU's autocast where no device is named."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        name = self.qualified_name(original.func) or ""
        row = self.table["names"].get(name)
        if row is None or len(original.args) != row["arguments"] or any(a.keyword or a.star for a in original.args):
            return updated
        if not self.target.has(row["new"]):
            self._absent(original.func, name)
            return updated
        new = self._new(original.func, row["new"])
        self.need_import("torch_npu", original)
        return self.rewrite(
            original,
            updated,
            updated.with_changes(func=new),
            "renamed",
            at=original.func,
            after=self.work.code(new),
            symbol=name,
            name=name,
            new=row["new"],
        )

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        return self._handed_on(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._handed_on(original, updated)

    def _handed_on(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        """The function itself as a value: who calls it decides how."""
        if self.is_part_of_name(original) or (isinstance(self.parent, cst.Call) and self.parent.func is original):
            return updated
        name = self.qualified_name(original) or ""
        row = self.table["names"].get(name)
        if row is None or self.meaning(original).kind == "value":
            return updated
        if not self.target.has(row["new"]):
            self._absent(original, name)
        else:
            self.report(original, Status.MANUAL, "handed-on", symbol=name, name=name, new=row["new"])
        return updated

    def _absent(self, place: cst.BaseExpression, name: str) -> None:
        self.report(place, Status.UNSUPPORTED, "absent", symbol=name, name=name, release=self.target.torch_npu)

    def _new(self, func: cst.BaseExpression, name: str) -> cst.BaseExpression:
        """The function under the program's own name for torch; under torch_npu's where it has none."""
        head = (dotted(func) or [""])[0]
        is_torch = self.work.module.names.head(head, self.work.scope_of(func)).name == "torch"
        return cst.parse_expression(head + name[len("torch") :] if is_torch else f"torch_npu{name[len('torch') :]}")
