"""SPP windows 5/9/13 -> 3/5/7: what a tuning guide recommends, and another function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Rule
from npu_migrate.structure import pools
from npu_migrate.structure.calls import methods, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.engine.module import PythonModule

SMALLER = {5: 3, 9: 5, 13: 7}


def literals(module: PythonModule) -> dict[tuple[int, int], list[int]]:
    """The literal sizes of pyramids with a window of 5, by range."""
    return module.fact("pyramid sizes", lambda: dict(_literals(module)))


def _literals(module: PythonModule) -> Iterator[tuple[tuple[int, int], list[int]]]:
    for found in pools.find(module):
        node = found.sizes
        if isinstance(node, ast.Name):
            node = _default(found.owner, node.id)
        if isinstance(node, (ast.Tuple, ast.List)):
            sizes = [number(element) for element in node.elts]
            if 5 in sizes and all(size in SMALLER for size in sizes):  # noqa: PLR2004  # what the guide speaks of
                yield module.range_of(node), [size for size in sizes if size is not None]


def _default(owner: ast.ClassDef, name: str) -> ast.expr | None:
    init = methods(owner).get("__init__")
    if init is None or not init.args.defaults:
        return None
    with_default = init.args.args[-len(init.args.defaults) :]
    return next((d for a, d in zip(with_default, init.args.defaults) if a.arg == name), None)


class PyramidSizes(Rule):
    """Only where results may change."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for start, _ in literals(module)]

    def leave_Tuple(self, original: cst.Tuple, updated: cst.Tuple) -> cst.BaseExpression:
        return self._shrink(original, updated)

    def leave_List(self, original: cst.List, updated: cst.List) -> cst.BaseExpression:
        return self._shrink(original, updated)

    def _shrink(self, original: cst.Tuple | cst.List, updated: cst.Tuple | cst.List) -> cst.BaseExpression:
        start, end = self.work.range_of(original)
        known = literals(self.work.module)
        sizes = known.get((start, end)) or known.get((start - 1, end + 1))
        if sizes is None:
            return updated
        elements = [e.with_changes(value=cst.Integer(str(SMALLER[s]))) for e, s in zip(updated.elements, sizes)]
        new = updated.with_changes(elements=elements)
        before, after = "/".join(map(str, sizes)), "/".join(str(SMALLER[s]) for s in sizes)
        return self.rewrite(original, updated, new, "smaller", symbol="torch.nn.MaxPool2d", before=before, now=after)
