"""NPU507 keeps the function: its fixture before and after, where the simulated NPU has ``npu_swiglu`` as documented."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", minversion="2.9")
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "npu507_swiglu"
PROGRAM = """
import runpy, sys
from npu_migrate.rehearse import simulate

with simulate("2.7.1") as report:
    import torch
    import torch_npu

    torch.manual_seed(0)
    for shape in ((4, 6), (2, 3, 8), (1, 2)):
        found = []
        given = torch.randn(shape, dtype=torch.float64)
        for path in sys.argv[1:]:
            x = given.npu().requires_grad_()
            y = runpy.run_path(path)["gate"](x)
            y.backward(torch.ones_like(y))
            found.append((y.detach().cpu(), x.grad.cpu()))
        for one, other in zip(*found):
            assert torch.equal(one, other), (one - other).abs().max()
print("operators", sorted(use.name for use in report.operators if "swiglu" in use.name))
"""


def test_outputs_and_gradients_are_equal_bit_by_bit():
    words = [sys.executable, "-c", PROGRAM, *(str(FIXTURES / f"basic.{part}.py") for part in ("in", "out"))]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "npu::npu_swiglu" in done.stdout
