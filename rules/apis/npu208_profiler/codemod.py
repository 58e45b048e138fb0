"""``torch.profiler`` with ``ProfilerActivity.CUDA`` -> ``torch_npu.profiler``; NVTX and the old autograd profiler."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate.calls import keyword_of
from npu_migrate.import_edits import Lines, Part, Small, regroup, spread
from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.trees import walk
from npu_migrate.values.origins import called

OLD, NEW = "torch.profiler", "torch_npu.profiler"
ACTIVITY = f"{OLD}.ProfilerActivity.CUDA"
PROFILES = (f"{OLD}.profile", "torch.autograd.profiler.profile")
NVTX = "torch.autograd.profiler.emit_nvtx"


class Profiler(Rule):
    """Moves a file's profiling to torch_npu as a whole, where torch_npu has all of what the file uses."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        if original.attr.value in self.table["columns"]:
            self.report(original, Status.MANUAL, "column", at=original.attr, name=original.attr.value)
        return self._judge(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        if original.raw_value in self.table["columns"]:
            self.report(original, Status.MANUAL, "column", name=original.raw_value)
        return updated

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        name = self.qualified_name(original.func)
        if name in PROFILES:
            for option in ("use_cuda", "experimental_config"):
                given = keyword_of(original, option)
                if given is not None and given.keyword is not None:
                    self.report(original, Status.MANUAL, option, at=given.keyword, symbol=name)
        return updated

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> Small:
        names = original.names
        if original.relative or ".".join(dotted(original.module) or []) != OLD or isinstance(names, cst.ImportStar):
            return updated
        if not isinstance(updated, cst.ImportFrom) or not self._moves():
            return updated
        moved = [alias.evaluated_name in self.table["moved"] for alias in names]
        if not any(moved):
            return updated
        parts = [Part(alias, alias, NEW if is_moved else OLD, is_moved) for alias, is_moved in zip(names, moved)]
        statements = regroup(updated, parts)
        after = "; ".join(self.work.code(statement) for statement in statements)
        new = statements[0] if len(statements) == 1 else cst.FlattenSentinel(statements)
        result: Small = self.rewrite(original, updated, new, "moved", symbol=OLD, after=after)
        return result

    def leave_SimpleStatementLine(self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine) -> Lines:
        return spread(original, updated)

    def _judge(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        if self.is_part_of_name(original):
            return updated
        meaning = self.meaning(original)
        name = meaning.name or ""
        if name == NVTX:
            self.report(original, Status.UNSUPPORTED, "nvtx", symbol=name, name=name)
            return updated
        first = name[len(OLD) + 1 :].split(".")[0] if name.startswith(f"{OLD}.") else ""
        if first not in self.table["moved"] or not self.target.has(f"{NEW}.{first}"):
            return updated
        if not self._moves():
            if name == ACTIVITY:
                self.report(original, Status.MANUAL, "tables", symbol=name, name=name)
            return updated
        return self._rename(original, updated, name, len(name.split(".")) - meaning.spelled)

    def _rename(
        self, original: cst.BaseExpression, updated: cst.BaseExpression, name: str, hidden: int
    ) -> cst.BaseExpression:
        new = f"{NEW}.ProfilerActivity.NPU" if name == ACTIVITY else NEW + name[len(OLD) :]
        if hidden > len(OLD.split(".")):  # the name itself is imported, and its import moves
            if name != ACTIVITY or not isinstance(updated, cst.Attribute):
                return updated
            exchanged: cst.BaseExpression = updated.with_changes(attr=cst.Name("NPU"))
        else:
            exchanged = cst.parse_expression(new)
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, exchanged, "renamed", symbol=name, name=name, new=new)

    def _moves(self) -> bool:
        """Whether this file profiles the device, and with nothing that torch_npu's profiler lacks."""
        return self.work.module.fact("profiles the device", self._profiles_device)

    def _profiles_device(self) -> bool:
        module = self.work.module
        if any(f".{name}" in module.text for name in self.table["missing"]) or not self.target.has(f"{NEW}.profile"):
            return False
        return "ProfilerActivity.CUDA" in module.text or any(
            _profiles_device(call, called(module, call)) for call in _calls(module.tree)
        )


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in walk(tree) if isinstance(node, ast.Call)]


def _profiles_device(call: ast.Call, name: str | None) -> bool:
    """A profile that leaves the activities open records those of the device."""
    return name == PROFILES[0] and not call.args and all(k.arg != "activities" for k in call.keywords)
