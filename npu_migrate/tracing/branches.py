"""Composites that run otherwise on the target than on the CPU. Needs no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npu_migrate.target import Target
    from npu_migrate.tracing.settings import Branches

# What torch itself runs for these on a device that is no CPU, forward and backward (aten/src/ATen/native/RNN.cpp).
_FUSED = {
    "gru": (("aten::_thnn_fused_gru_cell", "aten::mm"), ("aten::_thnn_fused_gru_cell_backward", "aten::mm")),
    "lstm": (("aten::_thnn_fused_lstm_cell", "aten::mm"), ("aten::_thnn_fused_lstm_cell_backward_impl", "aten::mm")),
}
_CELLS = ("_cell", ".input", ".data")


def branches(target: Target) -> Branches:
    """For each composite, what counts in its place, forward and backward.

    One that the target has a kernel of its own for counts whole. Recurrent cells are fused on accelerators since some
    version of torch: torch_npu has the forward kernel where they are.
    """
    found = {}
    for kind, (forward, backward) in _FUSED.items():
        fused = target.operator(forward[0])
        if fused is not None and not fused.worst.rank:
            found.update({kind + cell: (forward, backward) for cell in _CELLS})
    return found | {name: ((f"aten::{name}",), (f"aten::{name}",)) for name in target.replacements()}
