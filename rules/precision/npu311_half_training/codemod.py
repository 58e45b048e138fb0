"""``model.half()`` before training -> autocast and a gradient scaler; for inference it is right and stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.structure import training

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Sequence

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.training import Half

SCALER = "torch_npu.npu.amp.GradScaler"
SYMBOL = "torch.nn.Module.half"


class HalfTraining(Rule):
    """Rewrites a step that it can follow to the end; shows the pattern where it cannot."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for (start, _), found in training.find(module).items() if found.use in training.TRAINED]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        if not isinstance(original.func, cst.Attribute) or original.func.attr.value != "half":
            return updated
        span = self.work.range_of(original)
        found = training.find(self.work.module).get(span)
        if found is None:
            return updated
        bare = cst.ensure_type(updated.func, cst.Attribute).value
        if found.loop is not None and self._usable(found):
            self.need_import("torch_npu", original)
            return self.rewrite(
                original, updated, bare, "training", at=original.func.attr, symbol=SYMBOL, after=self._shown(found)
            )
        if found.use in training.TRAINED:
            self.report(original, Status.MANUAL, "trained", at=original.func.attr, symbol=SYMBOL)
            return updated
        return bare if self._goes_with(span) else updated

    def leave_IndentedBlock(self, original: cst.IndentedBlock, updated: cst.IndentedBlock) -> cst.IndentedBlock:
        body = list(updated.body)
        if len(body) != len(original.body):
            return updated
        for found in self._chosen():
            body = self._edited(found, original.body, body)
        return updated if body == list(updated.body) else updated.with_changes(body=body)

    def _edited(
        self, found: Half, original: Sequence[cst.BaseStatement], body: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        """The statements of a block, from the last to the first so that indices stay true."""
        loop = found.loop
        if loop is None:
            return body
        spans = [self.work.range_of(statement) for statement in original]

        def at(node: ast.AST | None) -> int | None:
            start, end = self.work.module.range_of(node) if node is not None else (-1, -1)
            lines = (i for i, s in enumerate(original) if isinstance(s, cst.SimpleStatementLine))
            return next((i for i in lines if spans[i][0] <= start and end <= spans[i][1]), None)

        edits: list[tuple[int, int, list[cst.BaseStatement]]] = []
        if (i := at(loop.step)) is not None:
            lines = [f"scaler.step({loop.optimizer})", "scaler.update()"]
            edits.append((i, i + 1, self._lines(lines, body[i])))
        if (i := at(loop.clip)) is not None:
            edits.append((i, i, self._lines([f"scaler.unscale_({loop.optimizer})"], None)))
        first = at(loop.forward[0])
        if (i := at(loop.backward)) is not None and first is not None:
            edits.append((first, i + 1, [_under_autocast(body[first:i]), _scaled(body[i])]))
        if (i := at(found.statement)) is not None:
            made = self._lines([f"scaler = {SCALER}()"], body[i] if _is_idle(body[i]) else None)
            edits.append((i, i + 1, made if _is_idle(body[i]) else [body[i], *made]))
        halves = {j for call in loop.halves if (j := at(call)) is not None and _is_idle(body[j])}
        edits += [(j, j + 1, []) for j in halves if not any(start <= j < end for start, end, _ in edits)]
        for start, end, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
            body = [*body[:start], *new, *body[end:]]
        return body

    def _lines(self, lines: list[str], old: cst.BaseStatement | None) -> list[cst.BaseStatement]:
        config = self.work.tree.config_for_parsing
        new = [cst.ensure_type(cst.parse_statement(line, config=config), cst.SimpleStatementLine) for line in lines]
        if isinstance(old, cst.SimpleStatementLine):
            new[0] = new[0].with_changes(leading_lines=old.leading_lines, trailing_whitespace=old.trailing_whitespace)
        return [*new]

    def _goes_with(self, span: tuple[int, int]) -> bool:
        """Whether a tensor's ``half()`` belongs to a step that now runs under autocast."""
        halves = (call for found in self._chosen() if found.loop is not None for call in found.loop.halves)
        return any(self.work.module.range_of(call) == span for call in halves)

    def _chosen(self) -> list[Half]:
        module = self.work.module
        allowed = self.work.allows(self.info.safety)
        return [
            found
            for span, found in (training.find(module) if allowed else {}).items()
            if found.loop is not None and self._usable(found) and self.work.barred(self.info.code, span) is None
        ]

    def _usable(self, found: Half) -> bool:
        """Whether the names that the new text uses are free, or mean what it needs."""
        module = self.work.module
        start, end = module.range_of(found.call)
        scope = module.scope_at(start)
        torch = module.names.meaning(["torch"], scope).name
        free = module.names.binding_scope("scaler", scope) is None
        return torch == "torch" and free and self.target.has(SCALER) and "#" not in module.text[start:end]

    def _shown(self, found: Half) -> str:
        """The step as it would be, for the report."""
        loop, text = found.loop, self.work.module.text
        if loop is None:
            return ""

        def source(node: ast.AST) -> str:
            start, end = self.work.module.range_of(node)
            return text[start:end]

        forward = "\n".join("    " + source(s).replace(".half()", "") for s in loop.forward)
        lines = [f"scaler = {SCALER}()", 'with torch.autocast("npu", dtype=torch.float16):', forward]
        lines.append(f"scaler.scale({source(loop.backward).rpartition('.backward')[0]}).backward()")
        if loop.clip is not None:
            lines += [f"scaler.unscale_({loop.optimizer})", source(loop.clip)]
        return "\n".join([*lines, f"scaler.step({loop.optimizer})", "scaler.update()"])


def _is_idle(statement: cst.BaseStatement) -> bool:
    """Whether nothing is left to do: ``model``, or ``x = x``."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    only = statement.body[0]
    if isinstance(only, cst.Expr):
        return dotted(only.value) is not None
    if not isinstance(only, cst.Assign) or len(only.targets) != 1:
        return False
    return dotted(only.value) is not None and dotted(only.targets[0].target) == dotted(only.value)


def _under_autocast(body: Sequence[cst.BaseStatement]) -> cst.With:
    first = cst.ensure_type(body[0], cst.SimpleStatementLine)
    inner = [first.with_changes(leading_lines=[]), *body[1:]]
    context = cst.parse_expression('torch.autocast("npu", dtype=torch.float16)')
    return cst.With([cst.WithItem(context)], cst.IndentedBlock(inner), leading_lines=first.leading_lines)


def _scaled(statement: cst.BaseStatement) -> cst.BaseStatement:
    """``loss.backward()`` -> ``scaler.scale(loss).backward()``."""
    line = cst.ensure_type(statement, cst.SimpleStatementLine)
    expression = cst.ensure_type(line.body[0], cst.Expr)
    call = cst.ensure_type(expression.value, cst.Call)
    func = cst.ensure_type(call.func, cst.Attribute)
    scaled = cst.Call(cst.Attribute(cst.Name("scaler"), cst.Name("scale")), [cst.Arg(func.value)])
    new = call.with_changes(func=func.with_changes(value=scaled))
    return line.with_changes(body=[expression.with_changes(value=new)])
