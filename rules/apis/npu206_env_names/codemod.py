"""``os.environ["CUDA_VISIBLE_DEVICES"]`` and the other variables of CUDA and NCCL."""

from __future__ import annotations

import ast
import re

import libcst as cst

from npu_migrate.files.tables import Variable, variable, variables
from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.values.environment import Environment, Place, constant
from npu_migrate.values.vocabulary import LOGGERS

IDS = re.compile(r"\d+(,\d+)*")
HIDDEN = ("", "-1")
MOST_MEGABYTES = 4096
COMMAND = re.compile(r"(?<![\w$])([A-Z][A-Z0-9_]+)=")
STATUSES = {"log": Status.ADVICE, "none": Status.ADVICE}
RENAMED = ("same", "visible")


class EnvNames(Rule):
    """Renames the variables that Ascend reads under another name and with the same values; speaks of the others."""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        name = original.raw_value
        known = variable(name)
        if known is None or "b" in original.prefix.lower():
            if not isinstance(self.parent, cst.Expr):
                self._command(original, original.raw_value)
            return updated
        twin = self.expression(original)
        if not isinstance(twin, ast.Constant):
            return updated
        environment = Environment(self.work.module)
        place = environment.place(twin)
        if place is not Place.VARIABLE:
            self._aside(original, name, known, place)
            return updated
        said = self._judge(known, environment.value(twin))
        if said != "renamed":
            self._say(original, said, name, known)
            return updated
        quote = original.quote
        new = updated.with_changes(value=f"{original.prefix}{quote}{known.ascend}{quote}")
        key = "visible" if known.message == "visible" else "renamed"
        return self.rewrite(original, updated, new, key, symbol=name, name=name, new=known.ascend)

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        known = variable(original.keyword.value) if original.keyword is not None else None
        twin = self.expression(original.value) if known is not None else None
        keyword = self.work.module.parent(twin) if twin is not None else None
        call = self.work.module.parent(keyword) if keyword is not None else None
        if known is None or original.keyword is None or not isinstance(call, ast.Call):
            return updated
        name = original.keyword.value
        if not Environment(self.work.module).merges(call):
            return updated
        said = self._judge(known, constant(twin))
        if said != "renamed":
            self._say(original.keyword, said, name, known)
            return updated
        new = updated.with_changes(keyword=cst.Name(known.ascend))
        return self.rewrite(
            original,
            updated,
            new,
            "renamed",
            at=original.keyword,
            after=known.ascend,
            symbol=name,
            name=name,
            new=known.ascend,
        )

    def leave_FormattedStringText(
        self, original: cst.FormattedStringText, updated: cst.FormattedStringText
    ) -> cst.FormattedStringText:
        self._command(original, original.value)
        return updated

    def _judge(self, known: Variable, value: str | None) -> str:
        """The message for a variable and the value it gets, where that is a constant."""
        if known.message in ("visible", "ascend") and value is not None and value not in HIDDEN:
            if IDS.fullmatch(value) is None:
                return "named"
            ids = [int(number) for number in value.split(",")]
            if any(left >= right for left, right in zip(ids, ids[1:])):
                return "descending"
        if known.message in RENAMED:
            return "renamed"
        if known.message == "buffsize":
            return "buffsize" if value is not None and value.isdecimal() and int(value) > MOST_MEGABYTES else ""
        return "instead" if known.message == "invented" and known.ascend else known.message

    def _say(self, at: cst.CSTNode, said: str, name: str, known: Variable) -> None:
        if said and said != "ascend":
            status = STATUSES.get(said, Status.MANUAL)
            self.report(at, status, said, symbol=name, name=name, ascend=known.ascend)

    def _aside(self, original: cst.SimpleString, name: str, known: Variable, place: Place) -> None:
        """The name stands somewhere else than as a key of the environment."""
        if known.message in ("ascend", "buffsize", "invented"):
            return
        status = Status.MANUAL if place is Place.UNKNOWN and known.message in RENAMED else Status.KEPT
        self.report(original, status, place.value, symbol=name, name=name, ascend=known.ascend)

    def _command(self, original: cst.CSTNode, text: str) -> None:
        """``"CUDA_VISIBLE_DEVICES=0 python train.py"``: a command, which is not rewritten."""
        found = (match[1] for match in COMMAND.finditer(text))
        name = next((name for name in found if name in variables() or name.startswith("NCCL_")), None)
        known = variable(name) if name is not None else None
        if name is not None and known is not None and known.message not in ("ascend", "buffsize"):
            key = "command" if known.ascend else "command-none"
            status, key = (Status.KEPT, "text") if self._is_shown() else (Status.MANUAL, key)
            self.report(original, status, key, symbol=name, name=name, ascend=known.ascend)

    def _is_shown(self) -> bool:
        """Whether the string that is being left is only shown to a person."""
        stack = self.work.stack
        call = next((node for node in reversed(stack) if isinstance(node, cst.Call)), None)
        name = (dotted(call.func) or [""])[-1] if call is not None else ""
        return name in LOGGERS or name.endswith(("Error", "Exception", "Warning"))
