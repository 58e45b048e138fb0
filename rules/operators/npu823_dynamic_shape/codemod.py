"""Operators in ``forward`` whose results have a shape that depends on values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.structure.calls import called, classes_with, methods
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.engine.module import PythonModule

NAMES = ("nonzero", "masked_select", "unique", "unique_consecutive", "argwhere")


def dynamic(module: PythonModule) -> dict[tuple[int, int], str]:
    """Such calls in the forward methods of classes, by range."""
    return module.fact("dynamic shapes", lambda: dict(_dynamic(module)))


def _dynamic(module: PythonModule) -> Iterator[tuple[tuple[int, int], str]]:
    for owner in classes_with(module, "|".join(NAMES)):
        forward = methods(owner).get("forward")
        for node in walk(forward) if forward is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NAMES:
                name = called(module, node)
                if name is None or name.startswith("torch."):
                    yield module.range_of(node), node.func.attr


class DynamicShape(Rule):
    """Names the operator."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for start, _ in dynamic(module)]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        name = dynamic(self.work.module).get(self.work.range_of(original))
        if name is not None and isinstance(original.func, cst.Attribute):
            self.report(original.func.attr, Status.ADVICE, "dynamic", symbol=f"torch.{name}", name=name)
        return updated
