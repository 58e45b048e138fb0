"""A trace on the CPU is held against what the dispatcher sends to a device: the portable tier's NPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from npu_migrate import target
from npu_migrate.tracing import Settings, run
from npu_migrate.tracing.branches import branches

pytest.importorskip("torch", minversion="2.9")
HERE = Path(__file__).parent
RELEASE = "2.13.0"
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from npu_migrate.rehearse import simulate

with simulate(sys.argv[3]) as report:
    import torch
    import torch_npu
    import nets

    module, *inputs = getattr(nets, sys.argv[2])()
    found = module.npu()(*(one.npu() for one in inputs))
    while isinstance(found, tuple):
        found = found[0]
    found.backward(torch.ones_like(found))
print(json.dumps([use.name for use in report.operators]))
"""
# The simulated NPU makes all views one operator, runs default kernels apart, and takes what the test itself does.
LAYOUT = {
    f"aten::{name}"
    for name in (
        "_reshape_alias _unsafe_view as_strided cat clone copy_ detach div.Scalar empty.memory_format empty_strided "
        "expand fill_.Scalar lift_fresh ones_like permute select.int select_backward split_with_sizes stack t "
        "transpose.int unbind.int unsqueeze view zeros zero_ contiguous _to_copy empty_like squeeze.dim"
    ).split()
}


@pytest.mark.parametrize("name", ["resnet", "transformer", "lstm", "gru_cell"])
def test_the_same_operators_reach_a_device(name):
    words = [sys.executable, "-c", PROGRAM, str(HERE), name, RELEASE]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    simulated = set(json.loads(done.stdout.splitlines()[-1]))
    # The simulation opens composites that torch_npu has kernels for, and composite-explicit default kernels.
    told = branches(target.load(RELEASE))
    torchs = {composite: one for composite, one in told.items() if one[0] != (f"aten::{composite}",)}
    torchs |= {cell: one for cell, one in fused() if cell not in torchs}
    trace = run(Settings(f"{HERE / 'nets.py'}:{name}", branches=torchs))
    traced = {use.operator for use in trace.uses if use.phase in {"forward", "backward"}}
    only_traced, only_simulated = traced - simulated - LAYOUT, simulated - traced - LAYOUT
    opened = {"aten::_safe_softmax"} & only_traced
    assert only_traced - opened == set()
    # The gradients that the steps of a recurrent cell leave for its weights are summed; inside, that is not counted.
    assert opened or {one for one in only_simulated if not one.endswith("out")} <= {"aten::add.Tensor"}


def fused():
    """Cells as torch itself runs them, also those that the release has kernels of its own for."""
    gru = (("aten::_thnn_fused_gru_cell", "aten::mm"), ("aten::_thnn_fused_gru_cell_backward", "aten::mm"))
    lstm = (("aten::_thnn_fused_lstm_cell", "aten::mm"), ("aten::_thnn_fused_lstm_cell_backward_impl", "aten::mm"))
    return [(kind + cell, one) for kind, one in (("gru", gru), ("lstm", lstm)) for cell in ("_cell", ".input", ".data")]
