"""``"nccl"`` -> ``"hccl"`` wherever it names a backend."""

from __future__ import annotations

import ast
import re

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import callers, last_name, text_around
from npu_migrate.values.vocabulary import LOGGERS

NEW = {"nccl": "hccl", "NCCL": "HCCL"}
MAP = re.compile(r"(\w+:\w+,)*cuda:nccl(,\w+:\w+)*")
IN_MAP = re.compile(r"\bcuda:nccl\b|(?<=^:)nccl(?=,|$)")
CONSTANTS = {"torch.distributed.Backend.NCCL", "torch.distributed.distributed_c10d.Backend.NCCL"}
STARTERS = ("init_process_group", "new_group")
OTHER_BACKENDS = {"gloo", "mpi", "ucc", "ccl", "xccl", "cncl", "mccl"}
TEXT_TAKERS = LOGGERS | {"join", "Path", "open", "isdir", "isfile", "exists", "getLogger"}
LIBRARY_TAKERS = {"CDLL", "LoadLibrary", "find_library", "Extension", "CppExtension", "CUDAExtension"}


class Backend(Rule):
    """Judges each string by what it is given to; text, paths and library names stay."""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        text = original.raw_value
        if text not in NEW and not MAP.fullmatch(text):
            return updated
        twin = self.expression(original)
        if twin is None or self._is_text(twin):
            return updated
        if self._stays(original, twin):
            return updated
        if any(last_name(call.func) in STARTERS for call in callers(self.work.module, twin)):
            self.need_import("torch_npu", original)
        if text in NEW:
            new = updated.with_changes(value=updated.value.replace(text, NEW[text]))
            old = self.work.code(original)
            return self.rewrite(original, updated, new, "renamed", old=old, new=self.work.code(new))
        new = updated.with_changes(value=IN_MAP.sub("npu:hccl", updated.value))
        return self.rewrite(original, updated, new, "map", new=self.work.code(new))

    def leave_FormattedString(self, original: cst.FormattedString, updated: cst.FormattedString) -> cst.BaseExpression:
        texts = [part for part in original.parts if isinstance(part, cst.FormattedStringText)]
        if " " in "".join(part.value for part in texts) or not any(IN_MAP.search(part.value) for part in texts):
            return updated
        self.need_import("torch_npu", original)
        new = updated.with_changes(parts=[_in_map(part) for part in updated.parts])
        return self.rewrite(original, updated, new, "map", new=self.work.code(new))

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        if original.attr.value != "NCCL" or self.is_part_of_name(original):
            return updated
        name = self.qualified_name(original)
        if name not in CONSTANTS:
            return updated
        twin = self.expression(original)
        if twin is not None and self._knows_hccl(twin):
            self.report(original, Status.KEPT, "own-branch", symbol=name)
            return updated
        new = updated.with_changes(attr=updated.attr.with_changes(value="HCCL"))
        self.need_import("torch_npu", original)
        old = self.work.code(original)
        return self.rewrite(original, updated, new, "constant", symbol=name, name=old, new=self.work.code(new))

    def _is_text(self, twin: ast.expr) -> bool:
        """Documentation, messages, paths: what nobody compares with a backend."""
        above = self.work.module.parent(twin)
        if isinstance(above, (ast.Expr, ast.Raise, ast.Assert)):
            return True
        taker = next(iter(callers(self.work.module, twin)), None)
        if taker is None or twin not in taker.args:
            return False
        name = last_name(taker.func)
        return name in TEXT_TAKERS or name.endswith(("Error", "Exception", "Warning"))

    def _stays(self, original: cst.SimpleString, twin: ast.expr) -> bool:
        """Report what is not to be renamed here, with its reason."""
        old = self.work.code(original)
        new = old.replace("nccl", "hccl").replace("NCCL", "HCCL")
        if any(last_name(call.func) in LIBRARY_TAKERS for call in callers(self.work.module, twin)):
            self.report(original, Status.KEPT, "library", old=old)
        elif self._knows_hccl(twin):
            above = self.work.module.parent(twin)
            is_default = isinstance(above, ast.keyword) and above.arg == "default"
            self.report(original, *((Status.MANUAL, "default") if is_default else (Status.KEPT, "own-branch")))
        elif self._is_lone_key(twin):
            self.report(original, Status.MANUAL, "key", old=old, new=new)
        else:
            return False
        return True

    def _is_lone_key(self, twin: ast.expr) -> bool:
        """A key of a dictionary that does not list backends, or a subscript."""
        above = self.work.module.parent(twin)
        if isinstance(above, ast.Dict) and twin in above.keys:
            names = {getattr(key, "value", None) for key in above.keys}
            return not names & OTHER_BACKENDS
        return isinstance(above, ast.Subscript) and above.slice is twin

    def _knows_hccl(self, twin: ast.expr) -> bool:
        return "hccl" in text_around(self.work.module, twin).lower()


def _in_map(part: cst.BaseFormattedStringContent) -> cst.BaseFormattedStringContent:
    if not isinstance(part, cst.FormattedStringText):
        return part
    return part.with_changes(value=IN_MAP.sub(lambda m: "npu:hccl" if ":" in m[0] else "hccl", part.value))
