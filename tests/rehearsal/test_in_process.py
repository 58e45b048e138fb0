from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUITE = """
import torch

def test_on_the_device():
    x = torch.ones(2, device="npu")
    assert (x + 1).tolist() == [2.0, 2.0]

def test_devices():
    assert torch.npu.device_count() == 3
"""
SIMULATED = """
from npu_migrate.rehearse import simulate

with simulate("2.7.1", devices=2) as report:
    import torch
    torch.ones(2).npu().sum().item()
assert any(use.name.startswith("aten::sum") for use in report.operators)
with simulate("2.7.1", on_cpu_fallback="raise") as second:
    torch.ones(2).npu() + 1
    try:
        torch.linalg.eigvals(torch.eye(2).npu())
    except NotImplementedError:
        pass
    else:
        raise AssertionError
assert not any(use.name.startswith("aten::sum") for use in second.operators)
try:
    with simulate("2.1.0"):
        raise AssertionError
except RuntimeError as error:
    assert "start another" in str(error)
"""


def _python(folder, *words):
    pytest.importorskip("torch")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def test_simulate(tmp_path):
    done = _python(tmp_path, "-c", SIMULATED)
    assert done.returncode == 0, done.stderr


def test_pytest_plugin(tmp_path):
    (tmp_path / "test_it.py").write_text(SUITE, encoding="utf-8")
    words = ["-m", "pytest", "-q", "--npu-rehearse=2.7.1"]
    done = _python(tmp_path, *words, "--npu-devices=3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    assert "Rehearsal on a simulated NPU" in done.stdout


def test_without_the_option_nothing_is_simulated(tmp_path):
    (tmp_path / "test_it.py").write_text(SUITE, encoding="utf-8")
    done = _python(tmp_path, "-m", "pytest", "-q")
    assert done.returncode == 1
    assert "2 failed" in done.stdout
