"""``model.half()`` before training -> autocast and a gradient scaler; for inference it is right and stays."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.names import dotted
from npu_migrate.rule import Status
from npu_migrate.structure import training
from npu_migrate.structure.blocks import AUTOCAST, SCALER, Changes, source
from npu_migrate.structure.rewriting import BlockRule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.training import Half, Loop

SYMBOL = "torch.nn.Module.half"
MADE = ("half", "to", "type")


class HalfTraining(BlockRule):
    """Rewrites a step that it can follow to the end; shows the pattern where it cannot."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for (start, _), found in training.find(module).items() if found.use in training.TRAINED]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        if not isinstance(original.func, cst.Attribute) or original.func.attr.value not in MADE:
            return updated
        span = self.work.range_of(original)
        found = training.find(self.work.module).get(span)
        if found is None:
            return updated
        if found.loop is not None and self._usable(found, found.loop):
            self.need_import("torch_npu", original)
            shown, bare = self._shown(found.loop), cst.ensure_type(updated.func, cst.Attribute).value
            return self.rewrite(original, updated, bare, "training", at=original.func.attr, symbol=SYMBOL, after=shown)
        if found.use in training.TRAINED:
            self.report(original, Status.MANUAL, "trained", at=original.func.attr, symbol=SYMBOL)
            return updated
        return cst.ensure_type(updated.func, cst.Attribute).value if self._goes_with(span) else updated

    def changes(self) -> Changes | None:
        return self.work.module.fact("changes for half", self._plan)

    def _plan(self) -> Changes | None:
        changes, chosen = Changes(), self._chosen()
        for found, loop in chosen:
            self._plan_loop(changes, found, loop)
        return changes if chosen else None

    def _plan_loop(self, changes: Changes, found: Half, loop: Loop) -> None:
        def at(node: ast.AST) -> int:
            return self.work.module.range_of(node)[0]

        changes.instead[at(loop.step)] = [f"{loop.scaler}.step({loop.optimizer})", f"{loop.scaler}.update()"]
        changes.instead[at(loop.backward)] = [self._backward(loop)]
        changes.under.append((at(loop.forward[0]), at(loop.forward[-1]), AUTOCAST))
        if loop.clip is not None:
            changes.before[at(loop.clip)] = [f"{loop.scaler}.unscale_({loop.optimizer})"]
        holders = (self.work.module.statement_at(at(call)) for call in loop.halves)
        idle = [h.node for h in holders if h is not None and _is_idle(h.node)]
        changes.instead.update({at(statement): [] for statement in idle})
        if found.statement is not None:
            side = changes.instead if _is_idle(found.statement) else changes.after
            side[at(found.statement)] = [f"{loop.scaler} = {SCALER}()"]

    def _backward(self, loop: Loop) -> str:
        text = source(self.work.module, loop.backward)
        loss = text.rpartition(".backward")[0]
        return f"{loop.scaler}.scale({loss}){text[len(loss) :]}"

    def _goes_with(self, span: tuple[int, int]) -> bool:
        """Whether a tensor's ``half()`` belongs to a step that now runs under autocast."""
        module = self.work.module
        return any(module.range_of(call) == span for _, loop in self._chosen() for call in loop.halves)

    def _chosen(self) -> list[tuple[Half, Loop]]:
        module = self.work.module
        allowed = self.work.allows(self.info.safety)
        return [
            (found, found.loop)
            for span, found in (training.find(module) if allowed else {}).items()
            if found.loop is not None
            and self._usable(found, found.loop)
            and self.work.barred(self.info.code, span) is None
        ]

    def _usable(self, found: Half, loop: Loop) -> bool:
        """Whether the names that the new text uses are free, or mean what it needs."""
        module = self.work.module
        start, end = module.range_of(found.call)
        scopes = [module.scope_at(start), module.scope_at(module.range_of(loop.backward)[0])]
        torch = all(module.names.meaning(["torch"], scope).name == "torch" for scope in scopes)
        if loop.scaler == "scaler":
            free = all(module.names.binding_scope("scaler", scope) is None for scope in scopes)
        else:
            free = loop.scaler not in module.text
        return torch and free and self.target.has(SCALER) and "#" not in module.text[start:end]

    def _shown(self, loop: Loop) -> str:
        """The step as it would be, for the report."""
        forward = "\n".join("    " + source(self.work.module, s).replace(".half()", "") for s in loop.forward)
        lines = [f"{loop.scaler} = {SCALER}()", f"with {AUTOCAST}:", forward, self._backward(loop)]
        if loop.clip is not None:
            lines += [f"{loop.scaler}.unscale_({loop.optimizer})", source(self.work.module, loop.clip)]
        return "\n".join([*lines, f"{loop.scaler}.step({loop.optimizer})", f"{loop.scaler}.update()"])


def _is_idle(statement: ast.AST) -> bool:
    """Whether nothing is left to do without ``half()``: ``model``, or ``x = x``."""
    if not isinstance(statement, (ast.Expr, ast.Assign)):
        return False
    func = statement.value.func if isinstance(statement.value, ast.Call) else None
    left = dotted(func.value) if isinstance(func, ast.Attribute) and func.attr == "half" else None
    return left is not None and (isinstance(statement, ast.Expr) or [dotted(t) for t in statement.targets] == [left])
