"""``is_nccl_available`` -> ``is_hccl_available``; the rest of NCCL's Python interface is named."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.values.arguments import name_of, text_around, text_of

OLD, NEW = "is_nccl_available", "is_hccl_available"
OLD_NAMES = {f"torch.distributed.{OLD}", f"torch.distributed.distributed_c10d.{OLD}"}
HOME = "torch_npu.distributed"
OTHERS = ("torch.cuda.", "torch.distributed.Backend.", "torch.distributed.distributed_c10d.Backend.")
BY_HAND = (
    "torch.distributed.ProcessGroupNCCL",
    "torch.distributed.distributed_c10d.ProcessGroupNCCL",
    "torch.testing.",
)


class NcclApi(Rule):
    """Judges each dotted expression once, at its outermost attribute; ``torch.cuda.nccl`` is NPU201's."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_ImportAlias(self, original: cst.ImportAlias, updated: cst.ImportAlias) -> cst.ImportAlias:
        statement = self.parent
        module = self._module(statement)
        if module is None or not isinstance(statement, cst.ImportFrom):
            return updated
        name = f"{module}.{original.evaluated_name}"
        if name in OLD_NAMES and not _is_alone(statement):
            self.report(original, Status.KEPT, "import-stays", symbol=name, name=OLD)
        elif name not in OLD_NAMES:
            self._report(original, name)
        return updated

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> cst.ImportFrom:
        module = self._module(original)
        if f"{module}.{_only_name(original)}" not in OLD_NAMES or not self.target.has(f"{HOME}.{NEW}"):
            return updated
        alias = updated.names[0]  # type: ignore[index]  # _only_name saw a list of one
        names = [alias.with_changes(name=cst.Name(NEW))]
        new = updated.with_changes(module=cst.parse_expression(HOME), names=names)
        return self.rewrite(original, updated, new, "imported", symbol=f"{module}.{OLD}", name=OLD, new=NEW)

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        """``getattr(torch.distributed, "_make_nccl_premul_sum")``."""
        if "nccl_premul_sum" not in original.raw_value:
            return updated
        twin = self.expression(original)
        call = self.work.module.parent(twin) if twin is not None else None
        if isinstance(call, ast.Call) and call.args[1:2] == [twin]:
            owner = name_of(self.work.module, call.args[0])
            if owner is not None and owner.startswith("torch.distributed"):
                self._report(original, f"{owner}.{text_of(twin)}")
        return updated

    def _judge(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        if self.is_part_of_name(original):
            return updated
        meaning = self.meaning(original)
        name = meaning.name
        if name is None or not name.startswith("torch.") or "nccl" not in name.lower() or name.startswith(OTHERS):
            return updated
        if self._stays(original, name):
            return updated
        new = self._available(original, updated)
        if new is None:
            return updated
        return self.rewrite(original, updated, new, "renamed", symbol=name, name=OLD, new=self.work.code(new))

    def _stays(self, original: cst.BaseExpression, name: str) -> bool:
        """Report what is not to be renamed here."""
        twin = self.expression(original)
        if name not in OLD_NAMES:
            self._report(original, name)
        elif twin is not None and "is_hccl" in text_around(self.work.module, twin):
            self.report(original, Status.KEPT, "own-branch", symbol=name, name=OLD)
        elif not self.target.has(f"{HOME}.{NEW}"):
            self.report(original, Status.UNSUPPORTED, "missing", symbol=name, name=name, release=self.target.torch_npu)
        else:
            return False
        return True

    def _available(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression | None:
        """The new expression; None where the (rewritten) import gives an alias its meaning."""
        if isinstance(updated, cst.Attribute):
            self.need_import("torch_npu", original)
            return updated.with_changes(attr=updated.attr.with_changes(value=NEW))
        name = cst.ensure_type(original, cst.Name).value
        if self._imported_alone(name):
            return None if name != OLD else updated.with_changes(value=NEW)
        self.need_import("torch_npu", original)
        return cst.parse_expression(f"{HOME}.{NEW}")

    def _imported_alone(self, name: str) -> bool:
        """Whether a statement that imports nothing else binds the name: that one is rewritten."""
        for statement in self.work.module.table.statements:
            node = statement.node
            if isinstance(node, ast.ImportFrom) and len(node.names) == 1:
                alias = node.names[0]
                if (alias.asname or alias.name) == name and f"{node.module}.{alias.name}" in OLD_NAMES:
                    return True
        return False

    def _report(self, node: cst.CSTNode, name: str) -> None:
        if "nccl" not in name.lower() or not name.startswith("torch.") or name.startswith(OTHERS):
            return
        status = Status.MANUAL if name.startswith(BY_HAND) else Status.UNSUPPORTED
        key = self.nearest_message(name.replace(".distributed_c10d.ProcessGroupNCCL", ".ProcessGroupNCCL"), "private")
        key = "premul" if "premul_sum" in name else key
        self.report(node, status, key, symbol=name, name=name, release=self.target.torch_npu)

    def _module(self, statement: cst.CSTNode | None) -> str | None:
        if not isinstance(statement, cst.ImportFrom) or statement.module is None or statement.relative:
            return None
        return ".".join(dotted(statement.module) or ())


def _only_name(statement: cst.ImportFrom) -> str | None:
    return str(statement.names[0].evaluated_name) if _is_alone(statement) else None  # type: ignore[index]


def _is_alone(statement: cst.ImportFrom) -> bool:
    return not isinstance(statement.names, cst.ImportStar) and len(statement.names) == 1
