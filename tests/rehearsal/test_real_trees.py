"""Real programs, migrated by the tool alone, then rehearsed.

The trees are repositories that no package index carries. Put checkouts below one folder and name it in
NPU_MIGRATE_TREES: yolov5-v7.0, nanoGPT, examples (pytorch/examples).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Callable, NamedTuple

import generated_data
import pytest

from npu_migrate.errors import InputError
from npu_migrate.rehearse import Settings, run
from npu_migrate.rehearse.tiers import settle

ROOT = Path(__file__).parents[2]
VARIABLE = "NPU_MIGRATE_TREES"
RELEASE = "2.13.0"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no folder of checkouts"),
]

GPT = (
    "train.py config/train_shakespeare_char.py --max_iters=2 --eval_interval=2 --eval_iters=1 --log_interval=1 "
    "--batch_size=4 --block_size=32 --n_layer=2 --n_head=2 --n_embd=32 --gradient_accumulation_steps=2 --compile=False"
)
YOLO = """
set -e
python train.py --data tiny.yaml --cfg models/yolov5n.yaml --weights '' --img 64 --batch 4 --epochs 1 --workers 0 \
  --device 0 --noplots
python val.py --data tiny.yaml --weights runs/train/exp/weights/last.pt --img 64 --device 0 --half --workers 0
python detect.py --weights runs/train/exp/weights/last.pt --source tiny/images/val --img 64 --device 0
"""
WORDS = "python main.py --accel --epochs 1 --batch_size 4 --bptt 8"
IMAGENET = (
    "python main.py --dummy -a resnet18 --epochs 1 -b 4 -p 1 -j 0 --world-size 1 --rank 0 "
    "--multiprocessing-distributed --dist-url tcp://127.0.0.1:29689 --dist-backend hccl"
)


class Program(NamedTuple):
    """A command in a tree, what it needs, and how far it goes."""

    tree: str
    command: str
    steps: int | None = None
    devices: int = 1
    needs: tuple[str, ...] = ("torch", "numpy")
    prepare: Callable[[Path], None] | None = None


def _letters(tree):
    generated_data.characters(tree / "data" / "shakespeare_char")


def _digits(tree):
    generated_data.digits(tree / "data")


def _wikitext(tree):
    generated_data.words(tree / "word_language_model" / "data" / "wikitext-2")


VISION = ("torch", "numpy", "torchvision")
PROGRAMS = {
    "yolov5": Program("yolov5-v7.0", YOLO, None, 1, (*VISION, "cv2", "pandas", "seaborn"), generated_data.boxes),
    "nanogpt": Program("nanoGPT", f"python {GPT}", None, 1, prepare=_letters),
    "nanogpt-ddp": Program("nanoGPT", f"torchrun --standalone --nproc_per_node=2 {GPT}", 2, 2, prepare=_letters),
    "mnist": Program("examples", "cd mnist; python main.py --epochs 1 --batch-size 16", None, 1, VISION, _digits),
    "mnist-rnn": Program("examples", "cd mnist_rnn; python main.py --epochs 1 --accel", 3, 1, VISION, _digits),
    "vae": Program("examples", "cd vae; python main.py --epochs 1 --batch-size 16", 3, 1, VISION, _digits),
    "dcgan": Program(
        "examples", "cd dcgan; python main.py --dataset fake --accel --batchSize 4 --niter 1 --workers 0", 2, 1, VISION
    ),
    "lstm": Program("examples", f"cd word_language_model; {WORDS}", 4, prepare=_wikitext),
    "transformer": Program(
        "examples", f"cd word_language_model; {WORDS} --model Transformer --nhead 2", 4, prepare=_wikitext
    ),
    "imagenet-ddp": Program("examples", f"cd imagenet; {IMAGENET}", 2, 2, VISION),
}


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    """Migrates a tree once, by the tool alone."""
    done: dict[str, Path] = {}

    def of(name: str) -> Path:
        source = Path(os.environ[VARIABLE]) / name
        if not source.is_dir():
            pytest.skip(f"no {name} below the folder of checkouts")
        if name not in done:
            folder = tmp_path_factory.mktemp("migrated") / name
            command = [sys.executable, "-m", "npu_migrate", str(source), "-o", str(folder), "--torch-npu", RELEASE]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=environment)
            done[name] = folder
        return done[name]

    return of


@pytest.mark.parametrize("tier", ["portable", "faithful"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs(migrated, name, tier, capfd):
    program = PROGRAMS[name]
    for package in program.needs:
        pytest.importorskip(package)
    try:
        settings = settle(Settings(tier, RELEASE, max_steps=program.steps))[0]
    except InputError as error:
        pytest.skip(str(error))
    tree = migrated(program.tree)
    if program.prepare:
        program.prepare(tree)
    visible = ",".join(map(str, range(program.devices)))
    environment = {
        **os.environ,
        "ASCEND_RT_VISIBLE_DEVICES": visible,
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",  # checkpoints of older programs hold whole models
    }
    report = run(tree, ["bash", "-c", program.command], settings, environment=environment)
    assert report.exit_code == 0, capfd.readouterr().err[-3000:]
    assert report.steps >= 1
    assert not report.of("cuda", "device-mix", "missing-name", "not-carried-out"), report.text()
