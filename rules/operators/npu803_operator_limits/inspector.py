"""Operators with data types or arguments that Huawei's documents exclude."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status
from npu_migrate.operators import use_of
from npu_migrate.operators.limits import NAMES, limit_at
from npu_migrate.target.support import support
from npu_migrate.values.arguments import argument, last_name

if TYPE_CHECKING:
    from npu_migrate.target import Target

# The condition in the documents, the argument that it is about, and whether the value stands for it being used.
ARGUMENTS = {
    "no-dropout": ("dropout", True),
    "no-projection": ("proj_size", True),
    "no-log-target": ("log_target", True),
    "sorted-only": ("sorted", False),
}
WITH_ARGUMENTS = frozenset({"GRU", "KLDivLoss", "LSTM", "kl_div", "topk"})


class OperatorLimits(Inspector):
    """NPU803."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # the words are the same for every release
        """Types, and functions with arguments that do not work."""
        return NAMES | {f"{name}(" for name in WITH_ARGUMENTS}

    @classmethod
    def opening(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # as above
        """Types are everywhere, and matter where tensors go to the device."""
        return frozenset(f"{name}(" for name in WITH_ARGUMENTS)

    def visit(self, node: ast.expr) -> None:
        """A type is asked what takes it, a function what it is given."""
        if isinstance(node, ast.Call) and last_name(node.func) in WITH_ARGUMENTS:
            self._arguments(node)
            return
        found = limit_at(self.work, node)
        if found is not None and not found.families:
            types = ", ".join(found.documented.dtypes_on("A2"))
            facts = {"name": found.use.name, "dtype": found.dtype, "types": types}
            facts["documents"] = found.documented.documents
            self.report(found.node, Status.MANUAL, "dtype", symbol=found.use.name, **facts)

    def _arguments(self, node: ast.Call) -> None:
        use = use_of(self.module, node)
        documented = support(self.target.torch, use.name) if use is not None else None
        if use is None or documented is None or not use.sure:
            return
        for word in documented.words:
            name, used = ARGUMENTS.get(word, ("", True))
            value = argument(node, name)
            if isinstance(value, ast.Constant) and bool(value.value) is used:
                facts = {"name": use.name, "argument": ast.unparse(value), "documents": documented.documents}
                self.report(node, Status.MANUAL, "argument", symbol=use.name, parameter=name, **facts)
