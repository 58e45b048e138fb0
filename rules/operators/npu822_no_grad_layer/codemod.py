"""``with torch.no_grad()`` round a layer inside ``forward``: the layer does not learn."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.names import dotted
from npu_migrate.rule import Rule, Status
from npu_migrate.structure.calls import attributes, called, classes_with, methods
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import libcst as cst

    from npu_migrate.engine.module import PythonModule

TRAINABLE = (
    "Linear",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "LSTM",
    "GRU",
    "RNN",
    "Embedding",
    "MultiheadAttention",
    "LayerNorm",
)
FROZEN = ("requires_grad", "requires_grad_", "freeze", "frozen")


def blocked(module: PythonModule) -> dict[tuple[int, int], str]:
    """``no_grad()`` calls by range, with the layer that they keep from learning."""
    return module.fact("no_grad layers", lambda: dict(_blocked(module)))


def _blocked(module: PythonModule) -> Iterator[tuple[tuple[int, int], str]]:
    for owner in classes_with(module, "no_grad"):
        forward = methods(owner).get("forward")
        if forward is None or _freezes(owner):
            continue
        layers = {
            n for n, v in attributes(owner).items() if (called(module, v) or "").startswith("torch.nn.") and _trains(v)
        }
        for block in _unconditional(forward):
            context = block.items[0].context_expr
            if isinstance(context, ast.Call) and called(module, context) == "torch.no_grad":
                used = [p[1] for n in walk(block) if isinstance(n, ast.Call) and (p := dotted(n.func)) and len(p) > 1]
                inside = next((name for name in used if name in layers), None)
                if inside is not None:
                    yield module.range_of(context), inside


def _trains(node: ast.expr) -> bool:
    parts = dotted(node.func) if isinstance(node, ast.Call) else None
    return bool(parts) and parts is not None and parts[-1] in TRAINABLE


def _freezes(owner: ast.ClassDef) -> bool:
    """Whether the class says that it does not mean some layer to learn."""
    names = (getattr(n, "attr", None) or getattr(n, "id", None) or getattr(n, "arg", None) for n in walk(owner))
    return any(isinstance(name, str) and name.startswith(FROZEN) for name in names)


def _unconditional(forward: ast.FunctionDef) -> Iterator[ast.With]:
    """The ``with`` statements that always run."""
    return (statement for statement in forward.body if isinstance(statement, ast.With))


class NoGradLayer(Rule):
    """Says which layer does not learn."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for start, _ in blocked(module)]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        layer = blocked(self.work.module).get(self.work.range_of(original))
        if layer is not None:
            self.report(original, Status.ADVICE, "no-gradient", symbol="torch.no_grad", layer=layer)
        return updated
