"""``torch.cuda.X`` -> ``torch.npu.X``, where the target release has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.rule import Meaning, Rule, Status, dotted

if TYPE_CHECKING:
    import libcst as cst


class CudaApi(Rule):
    """Judges each dotted expression once, at its outermost attribute."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._judge(original, updated)

    def _judge(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        if self.is_part_of_name(original):
            return updated
        meaning = self.meaning(original)
        if meaning.name is None or not (meaning.name + ".").startswith("torch.cuda."):
            return updated
        answer = self._answer(meaning.name)
        if answer.new is None:
            key = self.nearest_message(meaning.name, "missing")
            self.report(
                original, Status.UNSUPPORTED, key, symbol=meaning.name, name=meaning.name, release=self.target.torch_npu
            )
            return updated
        return self._replace(original, updated, meaning, answer)

    def _answer(self, name: str) -> _Answer:
        """Judge by the whole name, or by the class or function that its last segments belong to."""
        parts = name.split(".")
        if len(parts) == 2:  # noqa: PLR2004  # torch.cuda itself
            return _Answer(name, "torch.npu")
        for length in range(len(parts), 2, -1):
            known = ".".join(parts[:length])
            found = self.target.cuda_name(known)
            new = found.npu if found.exists else found.instead or None
            if new is not None and (length == len(parts) or self.target.kind(new) != "module"):
                return _Answer(known, new)
        return _Answer(name, None)

    def _replace(
        self, original: cst.BaseExpression, updated: cst.BaseExpression, meaning: Meaning, answer: _Answer
    ) -> cst.BaseExpression:
        name = meaning.name or ""
        new_name = (answer.new or "") + name[len(answer.known) :]
        hidden = len(name.split(".")) - meaning.spelled
        plain = "torch.npu" + name[len("torch.cuda") :]
        if hidden > 1:
            if new_name == plain:
                self.report(original, Status.KEPT, "follows", symbol=name, name=self.work.code(original), full=name)
            else:
                self.report(original, Status.MANUAL, "elsewhere", symbol=name, name=name, new=new_name)
            return updated
        head = (dotted(original) or ["torch"])[0]
        new = self.spelled_out(updated, name, new_name, head)
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, new, "renamed", symbol=name, name=name, new=new_name)


class _Answer(NamedTuple):
    known: str
    new: str | None
