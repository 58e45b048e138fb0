"""Four strided slices joined and convolved (Focus) -> one convolution with stride 2, and a hook for old checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Status
from npu_migrate.structure import focus
from npu_migrate.structure.rewriting import StepRule, gone

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.focus import Focus

HOOK = '''\
def _load_from_state_dict(self, state_dict, prefix, *rest):
    """Take the weights of older checkpoints, which are those of the four slices."""
    key = prefix + "{path}.weight"
    old = state_dict.get(key)
    if old is not None and old.shape[1] == 4 * self.{path}.in_channels:
        new = old.new_empty(old.shape[0], old.shape[1] // 4, 2 * old.shape[2], 2 * old.shape[3])
        for (row, column), part in zip({order}, old.chunk(4, 1)):
            new[:, :, row::2, column::2] = part
        state_dict[key] = new
    super()._load_from_state_dict(state_dict, prefix, *rest)
'''
SYMBOL = "torch.nn.Conv2d"


class FocusRule(StepRule):
    """The class keeps its name and its parameters, so that YAML files that name it stay."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [module.range_of(found.joined)[0] for found in focus.find(module)]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        span = self.work.range_of(original)
        for found in focus.find(self.work.module):
            if self.work.module.range_of(found.joined) == span:
                return self._join(original, updated, found)
            made = found.convolution.call if found.convolution is not None else None
            if made is not None and self.work.module.range_of(made) == span and self._may(found):
                return self.rewrite(original, updated, self._made(updated, found), "widened", symbol=SYMBOL)
        return updated

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        start, end = self.work.range_of(original)
        for found in focus.find(self.work.module):
            spans = [self.work.module.range_of(statement) for statement in found.spent]
            if any(start <= a and b <= end for a, b in spans) and self._may(found):
                if start <= self.work.module.range_of(found.joined)[0] < end:
                    return gone(updated)
                return self.without(original, updated, "spent", symbol=SYMBOL)
        return updated

    def leave_ClassDef(self, original: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:
        start, end = self.work.range_of(original)
        for found in focus.find(self.work.module):
            inside = start <= self.work.module.range_of(found.joined)[0] < end
            if inside and found.owner.name == original.name.value and self._may(found):
                return self._with_hook(updated, found)
        return updated

    def _join(self, original: cst.Call, updated: cst.Call, found: Focus) -> cst.BaseExpression:
        name = found.owner.name
        if found.convolution is None:
            key = "unclear" if found.attribute else "alone"
            self.report(original, Status.MANUAL, key, symbol=SYMBOL, name=name)
            return updated
        shown = f"self.{found.attribute} = {self._text(found)}"
        source = cst.Name(found.source.id)
        return self.rewrite(original, updated, source, "strided", symbol=SYMBOL, name=name, after=shown)

    def _may(self, found: Focus) -> bool:
        bar = self.work.barred(self.info.code, self.work.module.range_of(found.joined))
        start, end = self.work.module.range_of(found.joined)
        commented = "#" in self.work.module.text[start:end]
        return found.convolution is not None and bar is None and not commented and self.work.allows(self.info.safety)

    def _text(self, found: Focus) -> str:
        """The new call, for the report."""
        if found.convolution is None:
            return ""
        start, end = self.work.module.range_of(found.convolution.call)
        call = cst.ensure_type(cst.parse_expression(self.work.module.text[start:end]), cst.Call)
        return self.work.code(self._made(call, found))

    def _made(self, updated: cst.Call, found: Focus) -> cst.Call:
        convolution = found.convolution
        if convolution is None:
            return updated
        left = dict(convolution.values)
        arguments = []
        for index, argument in enumerate(updated.args):
            name = argument.keyword.value if argument.keyword is not None else convolution.parameters[index]
            text = left.pop(name, None)
            arguments.append(argument if text is None else argument.with_changes(value=cst.parse_expression(text)))
        left = {name: text for name, text in left.items() if text != "0"}  # a padding that is left out is 0
        if left and arguments[-1].comma is cst.MaybeSentinel.DEFAULT:
            arguments[-1] = arguments[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        for name, text in left.items():
            equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
            arguments.append(cst.Arg(cst.parse_expression(text), keyword=cst.Name(name), equal=equal))
        return updated.with_changes(args=arguments)

    def _with_hook(self, updated: cst.ClassDef, found: Focus) -> cst.ClassDef:
        path = found.attribute + (found.convolution.path if found.convolution is not None else "")
        text = HOOK.format(path=path, order=found.order)
        text = text.replace(f"self.{path}.in", "self." + _attribute(path) + ".in")
        hook = cst.ensure_type(cst.parse_statement(text, config=self.work.tree.config_for_parsing), cst.FunctionDef)
        hook = hook.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        body = list(updated.body.body)
        index = next(i for i, s in enumerate(body) if isinstance(s, cst.FunctionDef) and s.name.value == "forward")
        body.insert(index, hook)
        return updated.with_changes(body=updated.body.with_changes(body=body))


def _attribute(path: str) -> str:
    """``conv[0].weight`` for ``conv.0.weight``: a sequence has no attributes of that name."""
    first, *rest = path.split(".")
    return first + "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in rest)
