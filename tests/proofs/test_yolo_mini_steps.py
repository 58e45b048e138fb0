"""The sample project, trained from one checkpoint before and after its structure is migrated, has the same losses.

In float64: in float32 the two start 1e-7 apart, and the optimizer, which divides by small gradients, makes 0.3 of that
within 20 steps, as it does of any other order of summation.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys

import pytest
import twins

from npu_migrate.engine.run import migrate
from npu_migrate.engine.settings import Settings
from npu_migrate.model import Safety, Status
from npu_migrate.target import load

SAMPLE = twins.ROOT / "fixtures" / "projects" / "yolo_mini"
STEPS = 20
FLOAT64 = """
import runpy, sys, torch
torch.set_default_dtype(torch.float64)
torch.Tensor.float = torch.Tensor.double
sys.path.insert(0, "")
runpy.run_path("train.py", run_name="__main__")
"""


def train(tree, name, *options):
    command = [sys.executable, "-c", FLOAT64, "--device", "cpu", "--workers", "0", "--name", name, *options]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    with (tree / "runs" / "train" / name / "losses.csv").open(newline="") as lines:
        return [float(row["loss"]) for row in csv.DictReader(lines)]


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """A copy of the sample with a checkpoint, and its losses from there on."""
    pytest.importorskip("yaml")
    tree = tmp_path_factory.mktemp("before") / SAMPLE.name
    shutil.copytree(SAMPLE, tree, ignore=shutil.ignore_patterns("runs", "shapes", "__pycache__"))
    train(tree, "start", "--steps", "2")
    weights = tree / "runs" / "train" / "start" / "last.pt"
    return tree, weights, train(tree, "losses", "--steps", str(STEPS), "--weights", str(weights))


def migrated(tree, folder):
    """The tree with the structure rules applied."""
    new = folder / tree.name
    shutil.copytree(tree, new, ignore=shutil.ignore_patterns("runs", "__pycache__"))
    changed = []
    for result in migrate([new], Settings(target=load("2.7.1"), safety=Safety.BEHAVIOUR, select=("NPU5",))):
        if result.changed:
            (new / result.path).write_bytes(result.new)
            changed.append(result.path)
    assert changed == ["models/common.py"]
    return new


@pytest.mark.slow
def test_losses_stay_the_same_at_level_behaviour(before, tmp_path):
    tree, weights, expected = before
    new = migrated(tree, tmp_path)
    losses = train(new, "losses", "--steps", str(STEPS), "--weights", str(weights))
    assert len(losses) == STEPS
    assert losses == pytest.approx(expected, abs=1e-5)


def test_what_level_numerics_would_change_is_reported():
    settings = Settings(target=load("2.7.1"), select=("NPU5",))
    findings = [f for result in migrate([SAMPLE], settings) for f in result.findings]
    held_back = [(f.rule, f.status, f.after) for f in findings if f.safety is Safety.NUMERICS]
    assert held_back == [("NPU506", Status.MANUAL, "(3, 5, 7)")]
