"""Trainers that choose the device themselves: Lightning knows no NPU, Accelerate and transformers do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status
from npu_migrate.values.arguments import argument, text_of

if TYPE_CHECKING:
    from npu_migrate.target import Target

# What Lightning spreads over processes with a backend of its choice: NCCL on CUDA, gloo on all else.
SPREAD = ("ddp", "fsdp")
NO_CARD = frozenset({"cpu", "tpu", "mps", "hpu"})


class TrainerAccelerator(Inspector):
    """Looks at what a trainer is made with."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # the same for every release
        """The trainers."""
        return frozenset(f"{name}(" for name in "Trainer Fabric Accelerator TrainingArguments".split())

    def visit(self, node: ast.expr) -> None:
        """Tell which device the trainer will take."""
        name = self.qualified_name(node) or ""
        if not isinstance(node, ast.Call):
            return
        if name in self.table["knows_npu"]:
            self.report(node, Status.KEPT, "knows-npu", symbol=name, name=name)
        elif name in self.table["lightning"]:
            self._lightning(node, name)

    def _lightning(self, call: ast.Call, name: str) -> None:
        accelerator = argument(call, "accelerator")
        chosen = text_of(accelerator)
        if chosen in NO_CARD or isinstance(accelerator, ast.Call):
            return
        gpus = argument(call, "gpus")
        if gpus is not None and not (isinstance(gpus, ast.Constant) and not gpus.value):
            self.report(gpus, Status.MANUAL, "gpus", symbol=name, name=name)
        elif accelerator is None or chosen == "auto":
            self.report(accelerator or call, Status.MANUAL, "auto", symbol=name, name=name)
        elif chosen is None:
            self.report(accelerator, Status.MANUAL, "handed", symbol=name, name=name)
        else:
            self.report(accelerator, Status.MANUAL, "accelerator", symbol=name, name=name, value=chosen)
        strategy = argument(call, "strategy")
        spread = text_of(strategy) or ""
        if strategy is not None and spread.startswith(SPREAD):
            self.report(strategy, Status.MANUAL, "strategy", symbol=name, value=spread)
