"""Lightning's trainers are asked which accelerator they want."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status
from npu_migrate.values.arguments import argument, text_of

if TYPE_CHECKING:
    from npu_migrate.target import Target

PACKAGES = ("lightning", "pytorch_lightning", "lightning_fabric")
CUDA = ("gpu", "cuda")


class Lightning(Inspector):
    """Looks at calls of ``Trainer`` and ``Fabric``."""

    heeds_vendors = False

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:  # noqa: ARG003 - the same in every release
        return frozenset({"Trainer(", "Fabric("})

    def visit(self, node: ast.expr) -> None:
        name = self.qualified_name(node)
        if not isinstance(node, ast.Call) or name is None or name.partition(".")[0] not in PACKAGES:
            return
        if argument(node, "gpus") is not None:
            self.report(node, Status.MANUAL, "gpu", symbol=name, value="gpus=")
            return
        wanted = argument(node, "accelerator")
        if wanted is None:
            hidden = any(one.arg is None for one in node.keywords)
            self.report(node, Status.MANUAL, "open" if hidden else "auto", symbol=name, value="**")
        elif not isinstance(wanted, ast.Call):
            self._judge(node, name, wanted)

    def _judge(self, node: ast.Call, name: str, wanted: ast.expr) -> None:
        text = text_of(wanted)
        if text in CUDA:
            self.report(node, Status.MANUAL, "gpu", symbol=name, value=f'accelerator="{text}"')
        elif text == "auto":
            self.report(node, Status.MANUAL, "auto", symbol=name)
        elif text is None:
            self.report(node, Status.MANUAL, "open", symbol=name, value=ast.unparse(wanted))
