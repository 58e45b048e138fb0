"""The sample project: migrated by the tool alone, then trained, validated, resumed and run on two devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from npu_migrate.errors import InputError
from npu_migrate.rehearse import Settings, run
from npu_migrate.rehearse.tiers import settle

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "fixtures" / "projects" / "yolo_mini"
SHORT = "--epochs 1 --steps 2 --workers 0"
WHOLE = f"""
set -e
python train.py --device 0 {SHORT}
python val.py --weights runs/train/exp/last.pt --half --device 0
python train.py --resume runs/train/exp/last.pt --epochs 2 --steps 3 --workers 0 --device 0
python detect.py --weights runs/train/exp/last.pt --device npu:0
"""
TWO = f"torchrun --standalone --nproc_per_node=2 train.py --device 0,1 {SHORT} --sync-bn"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    for package in ("torch", "numpy", "yaml"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("migrated") / "yolo_mini"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "npu_migrate", str(SAMPLE), "-o", str(folder), "--torch-npu", "2.7.1"]
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=ROOT)
    return folder


@pytest.fixture(params=["portable", "faithful"])
def settings(request):
    try:
        return settle(Settings(request.param, "2.7.1" if request.param == "portable" else None, devices=2))[0]
    except InputError as error:
        pytest.skip(str(error))


def _visible(devices):
    return {**os.environ, "ASCEND_RT_VISIBLE_DEVICES": devices, "OMP_NUM_THREADS": "1"}


def test_as_it_is_it_asks_for_cuda(capfd):
    pytest.importorskip("torch")
    report = run(SAMPLE, ["python", "train.py", "--device", "0"], Settings("portable", "2.7.1"))
    assert report.exit_code == 1
    assert not report.used
    assert "CUDA unavailable" in capfd.readouterr().err
    assert "utils/torch_utils.py" in {note.where.partition(":")[0] for note in report.of("cuda")}


def test_migrated_it_trains_validates_resumes_and_detects(migrated, settings, capfd):
    report = run(migrated, ["bash", "-c", WHOLE], settings, environment=_visible("0"))
    assert report.exit_code == 0, capfd.readouterr().err[-3000:]
    assert report.steps >= 1
    assert report.processes == 4
    assert not report.of("cuda", "device-mix", "missing-name", "not-carried-out")
    assert not report.in_state("unsupported")


def test_migrated_it_runs_on_two_devices(migrated, settings, capfd):
    report = run(migrated, TWO.split(), settings, environment=_visible("0,1"))
    assert report.exit_code == 0, capfd.readouterr().err[-3000:]
    assert report.processes == 2
    assert not report.of("cuda", "device-mix", "missing-name")
