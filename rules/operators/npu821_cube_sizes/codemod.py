"""Layers whose sizes are no multiple of 16, where they are literals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.structure.calls import bound, called, calls_with, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import libcst as cst

    from npu_migrate.engine.module import PythonModule

CUBE = 16
LAYERS = {
    "torch.nn.Linear": ("in_features", "out_features", "bias", "device", "dtype"),
    "torch.nn.Embedding": ("num_embeddings", "embedding_dim", "padding_idx"),
}
# Below this a layer is too small for its padding to be worth a word.
SMALLEST = 2 * CUBE


def odd_sizes(module: PythonModule) -> dict[tuple[int, int], tuple[str, list[int]]]:
    """Layers with such sizes by range: their name and the sizes."""
    return module.fact("odd sizes", lambda: dict(_odd_sizes(module)))


def _odd_sizes(module: PythonModule) -> Iterator[tuple[tuple[int, int], tuple[str, list[int]]]]:
    for node in calls_with(module, "Linear|Embedding"):
        name = called(module, node)
        if name not in LAYERS:
            continue
        arguments = bound(node, LAYERS[name])
        sizes = [number(arguments.get(p)) for p in LAYERS[name][:2]] if arguments is not None else [None]
        known = [size for size in sizes if size is not None]
        if len(known) == len(sizes) and min(known) >= SMALLEST and any(size % CUBE for size in known):
            yield module.range_of(node), (name, known)


class CubeSizes(Rule):
    """Names the padded size and what it costs."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [start for start, _ in odd_sizes(module)]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        found = odd_sizes(self.work.module).get(self.work.range_of(original))
        if found is not None:
            name, (rows, columns) = found
            padded = [-(-size // CUBE) * CUBE for size in (rows, columns)]
            more = padded[0] * padded[1] / (rows * columns) - 1
            self.report(
                original,
                Status.ADVICE,
                "padded",
                symbol=name,
                sizes=f"{rows}, {columns}",
                padded=f"{padded[0]}, {padded[1]}",
                cost=f"{more:.1%}",
            )
        return updated
