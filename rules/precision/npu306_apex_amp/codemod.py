"""``apex.amp`` and ``FP16_Optimizer`` -> autocast and a gradient scaler, where a file's training can be followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from npu_migrate.rule import Status, dotted
from npu_migrate.structure import apex, apex_plan, apex_setup, apex_step
from npu_migrate.structure.blocks import AUTOCAST, SCALER
from npu_migrate.structure.rewriting import BlockRule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.apex import Training
    from npu_migrate.structure.apex_setup import Setup
    from npu_migrate.structure.blocks import Changes

Node = TypeVar("Node", bound=cst.CSTNode)
STARTS = frozenset([apex_setup.INITIALIZE, *apex_setup.WRAPPERS])
KEYS = {"": "wrapper", "O0": "fp32", "O1": "mixed", "O2": "mixed-O2"}
PATTERN = (
    f"scaler = {SCALER}(); with {AUTOCAST}: loss = ...; scaler.scale(loss).backward(); "
    "scaler.unscale_(optimizer); clip; scaler.step(optimizer); scaler.update()"
)


class ApexAmp(BlockRule):
    """Rewrites all of a file or nothing of it; says at the set-up why it cannot."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for start, _ in apex.answered(module)]

    def changes(self) -> Changes | None:
        training, module = apex.find(self.work.module), self.work.module
        if training is None or self._reason(training) or not self.work.allows(self.info.safety):
            return None
        return module.fact("changes for apex", lambda: apex_plan.plan(module, training))

    def leave_ImportAlias(self, original: cst.ImportAlias, updated: cst.ImportAlias) -> cst.ImportAlias:
        name, training = self._use(original), apex.find(self.work.module)
        if not name or training is None or self._refused(original, name, training):
            return updated
        return self.rewrite(original, updated, updated, "import", symbol=name, after="", name=name)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        name, training = self._use(original.func), apex.find(self.work.module)
        setup = training.setup if training is not None else None
        if training is None or (name and self._refused(original.func, name, training)) or setup is None:
            return updated
        if name in STARTS:
            if setup.level != "O0":
                self.need_import("torch_npu", original)
            key, after = KEYS.get(setup.level, "by-level"), apex_plan.maker(setup)
        elif name == apex_step.SCALE_LOSS:
            call = self.expression(original)
            key, after = (
                "scale-loss",
                next(
                    apex_plan.backward(self.work.module, step, setup) for step in training.steps if call in step.scaled
                ),
            )
        else:
            return self._exchanged(original, updated, training, name)
        return self.rewrite(original, updated, updated, key, at=original.func, symbol=name, after=after, name=name)

    def _exchanged(self, original: cst.Call, updated: cst.Call, training: Training, name: str) -> cst.BaseExpression:
        """What is exchanged where it stands: parameters, state, clipping through the optimizer."""
        setup = training.setup
        if setup is None or self._reason(training):
            return updated
        new: cst.BaseExpression
        if name == apex_step.MASTER_PARAMS:
            key, new = "parameters", cst.parse_expression(apex_plan.gradients(setup))
        elif name in apex.STATES:
            func = cst.parse_expression(f"{setup.scaler}.{name.rpartition('.')[2]}")
            key, new = "state", updated.with_changes(func=func)
        elif not setup.model and self._is_half(original, training):
            return cst.ensure_type(updated.func, cst.Attribute).value if self.changes() is not None else updated
        elif not setup.model and dotted(original.func) == [*setup.optimizer.split("."), "clip_master_grads"]:
            key, new = "clipping", self._clipping(updated, setup)
        else:
            return updated
        return self.rewrite(original, updated, new, key, at=original.func, symbol=name, name=name or key)

    def _clipping(self, updated: cst.Call, setup: Setup) -> cst.Call:
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        first = cst.Arg(cst.parse_expression(apex_plan.gradients(setup)), comma=comma)
        return updated.with_changes(
            func=cst.parse_expression("torch.nn.utils.clip_grad_norm_"), args=[first, *updated.args]
        )

    def _is_half(self, original: cst.Call, training: Training) -> bool:
        """Whether a call makes half precision of what apex's wrapper trained in it."""
        method = isinstance(original.func, cst.Attribute) and original.func.attr.value == "half"
        owners = {step.owner for step in training.steps} | ({training.setup.owner} if training.setup else set())
        return method and any(self.expression(original) in apex_step.halves(owner) for owner in owners)

    def _use(self, node: cst.CSTNode) -> str:
        """The absolute name of a mention of apex that is answered here."""
        module, training = self.work.module, apex.find(self.work.module)
        uses = () if training is None else training.uses if training.followed else training.starts
        span = self.work.range_of(node)
        return next((use.name for use in uses if module.range_of(use.node) == span), "")

    def _refused(self, at: cst.CSTNode, name: str, training: Training) -> bool:
        """Whether a file stays as it is; then say so, and at the set-up why."""
        reason = self._reason(training)
        if reason:
            key = f"not-{reason}" if name in STARTS else "goes-with"
            self.report(at, Status.MANUAL, key, symbol=name, name=name, pattern=PATTERN)
        return bool(reason)

    def _reason(self, training: Training) -> str:
        """Why a file is not rewritten: it cannot be followed, a comment keeps a part of it, or a name is taken."""
        return training.reason or self.work.module.fact("apex unusable", lambda: self._unusable(training))

    def _unusable(self, training: Training) -> str:
        module, setup = self.work.module, training.setup
        if setup is None:
            return ""
        spans = [module.range_of(use.node) for use in training.uses]
        if any(self.work.barred(self.info.code, span) is not None for span in spans):
            return "partly"
        scopes = [module.table.scopes[owner] for owner in {setup.owner, *(step.owner for step in training.steps)}]
        known = all(module.names.meaning(["torch"], scope).name == "torch" for scope in scopes)
        if setup.scaler == "scaler":
            free = all(module.names.binding_scope("scaler", scope) is None for scope in scopes)
        else:
            free = "self.scaler" not in module.text
        return "" if known and free and self.target.has(SCALER) else "names"
