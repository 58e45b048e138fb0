"""The embedded sample keeps the CUDA sites it is there for, and really trains on a CPU."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest

SAMPLE = Path(__file__).parents[1] / "fixtures" / "projects" / "yolo_mini"

# what the sample shows of real code: (file, pattern)
SITES = {
    "focus class": ("models/common.py", r"torch\.cat\(\[x\[\.\.\., ::2, ::2\], x\[\.\.\., 1::2, ::2\]"),
    "focus in yaml": ("models/yolo_mini.yaml", r"- \[-1, 1, Focus, \["),
    "spp class": (
        "models/common.py",
        r"class SPP\(nn\.Module\):[^§]*k=\(5, 9, 13\)[^§]*nn\.ModuleList\(\[nn\.MaxPool2d\(",
    ),
    "spp in yaml": ("models/yolo_mini.yaml", r"SPP, \[128, \[5, 9, 13\]\]"),
    "own silu": ("models/common.py", r"class SiLU\(nn\.Module\):[^§]*return x \* torch\.sigmoid\(x\)"),
    "yaml builder": ("models/yolo.py", r"def parse_model\("),
    "fuse": ("models/yolo.py", r"def fuse\(self\):"),
    "amp import": ("train.py", r"^from torch\.cuda import amp$"),
    "autocast": ("train.py", r"with amp\.autocast\(enabled="),
    "grad scaler": ("train.py", r"amp\.GradScaler\(enabled="),
    "nccl or gloo": ("train.py", r'backend="nccl" if torch\.cuda\.is_available\(\) else "gloo"'),
    "set_device": ("train.py", r"torch\.cuda\.set_device\(LOCAL_RANK\)"),
    "indexed device": ("train.py", r'torch\.device\("cuda", LOCAL_RANK\)'),
    "ddp": ("train.py", r"DDP\(model, device_ids=\[LOCAL_RANK\]"),
    "data parallel": ("train.py", r"nn\.DataParallel\(model\)"),
    "sync bn": ("train.py", r"convert_sync_batchnorm\("),
    "map_location dict": ("train.py", r'map_location = \{"cuda:0": "cuda:%d" % '),
    "map_location": ("val.py", r"torch\.load\(weights, map_location=device\)"),
    "zero_grad": ("train.py", r"\.zero_grad\(\)"),
    "log text": ("train.py", r'LOGGER\.warning\(f".*cuda devices'),
    "empty device default": ("train.py", r'"--device", default=""'),
    "cuda device default": ("detect.py", r'"--device", default="cuda:0"'),
    "string test": ("detect.py", r'if "cuda" in str\(device\)'),
    "no-cuda flag": ("export.py", r'"--no-cuda", action="store_true"'),
    "args.cuda flag": ("export.py", r"args\.cuda = not args\.no_cuda and torch\.cuda\.is_available\(\)"),
    "cuda method": ("export.py", r"model\.cuda\(\), img\.cuda\(non_blocking=True\)"),
    "jit trace": ("export.py", r"torch\.jit\.trace\("),
    "half for inference": ("val.py", r"model\.half\(\) if half else model\.float\(\)"),
    "half input": ("detect.py", r"img\.half\(\) if half else img\.float\(\)"),
    "empty_cache": ("val.py", r"torch\.cuda\.empty_cache\(\)"),
    "pin_memory": ("utils/datasets.py", r"pin_memory=True"),
    "seed": ("utils/torch_utils.py", r"torch\.cuda\.manual_seed_all\(seed\)"),
    "cudnn flags": ("utils/torch_utils.py", r"cudnn\.benchmark, cudnn\.deterministic ="),
    "string surgery": ("utils/torch_utils.py", r'\.lower\(\)\.replace\("cuda:", ""\)'),
    "visible devices": ("utils/torch_utils.py", r'os\.environ\["CUDA_VISIBLE_DEVICES"\] = device'),
    "properties": ("utils/torch_utils.py", r"torch\.cuda\.get_device_properties\("),
    "conditional device": ("utils/torch_utils.py", r'torch\.device\("cuda:0" if cuda else "cpu"\)'),
    "synchronize": ("utils/torch_utils.py", r"torch\.cuda\.synchronize\(\)"),
    "memory": ("utils/torch_utils.py", r"torch\.cuda\.memory_reserved\(\)"),
    "is_parallel": ("utils/torch_utils.py", r"def is_parallel\("),
    "zero first": ("utils/torch_utils.py", r"def torch_distributed_zero_first\("),
    "ema": ("utils/torch_utils.py", r"class ModelEMA"),
    "launcher devices": ("scripts/train_ddp.sh", r"^export CUDA_VISIBLE_DEVICES="),
    "launcher nccl": ("scripts/train_ddp.sh", r"^export NCCL_\w+="),
    "requirements": ("requirements.txt", r"^torch==[\d.]+\+cu\d+$"),
    "docker image": ("Dockerfile", r"^FROM nvidia/cuda:"),
}


def run(tree, *command):
    done = subprocess.run(
        [sys.executable, *command], cwd=tree, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def losses(tree, name):
    with (tree / "runs" / "train" / name / "losses.csv").open(newline="") as lines:
        return [float(row["loss"]) for row in csv.DictReader(lines)]


def train_arguments(name):
    return ["train.py", "--device", "cpu", "--steps", "24", "--workers", "0", "--name", name]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A copy of the sample after 24 steps."""
    for name in ("torch", "numpy", "yaml"):
        pytest.importorskip(name)
    tree = tmp_path_factory.mktemp("sample") / SAMPLE.name
    shutil.copytree(SAMPLE, tree, ignore=shutil.ignore_patterns("runs", "shapes", "__pycache__"))
    run(tree, *train_arguments("first"))
    return tree


@pytest.mark.parametrize("path", sorted(SAMPLE.rglob("*.py")), ids=lambda path: path.relative_to(SAMPLE).as_posix())
def test_every_module_compiles_and_stays_small(path):
    source = path.read_text(encoding="utf-8")
    compile(source, str(path), "exec")
    assert len(source.splitlines()) < 250


@pytest.mark.parametrize("site", SITES)
def test_the_sample_keeps_its_sites(site):
    file, pattern = SITES[site]
    assert re.search(pattern, (SAMPLE / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_the_sample_is_not_migrated():
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(SAMPLE.rglob("*.py")))
    assert not re.search(r"torch_npu|\bnpu\b|hccl", text)


def test_the_notebook_is_valid_and_has_a_shell_cell():
    notebook = json.loads((SAMPLE / "notebooks" / "tutorial.ipynb").read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert notebook["nbformat"] == 4
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert any("!nvidia-smi" in cell.splitlines() for cell in code)
    assert any(".cuda()" in cell for cell in code)


@pytest.mark.slow
def test_training_lowers_the_loss(trained):
    values = losses(trained, "first")
    assert len(values) == 24
    assert mean(values[-4:]) < 0.85 * mean(values[:4])


@pytest.mark.slow
def test_training_is_reproducible(trained):
    run(trained, *train_arguments("second"))
    assert losses(trained, "second") == losses(trained, "first")


@pytest.mark.slow
def test_a_run_can_be_resumed(trained):
    text = run(trained, "train.py", "--device", "cpu", "--epochs", "2", "--resume", "runs/train/first/last.pt")
    assert "resuming runs/train/first/last.pt at epoch 1" in text


@pytest.mark.slow
def test_val_reports_a_metric(trained):
    text = run(trained, "val.py", "--device", "cpu", "--weights", "runs/train/first/best.pt")
    assert re.search(r"all mAP@\.5 [01]\.\d{3}", text)


@pytest.mark.slow
def test_detect_writes_images_and_labels(trained):
    run(trained, "detect.py", "--device", "cpu", "--weights", "runs/train/first/best.pt")
    written = {path.suffix for path in (trained / "runs" / "detect" / "exp").iterdir()}
    assert written == {".ppm", ".txt"}


@pytest.mark.slow
def test_export_traces_the_same_function(trained):
    text = run(trained, "export.py", "--no-cuda", "--weights", "runs/train/first/best.pt")
    assert float(re.search(r"greatest difference (\S+),", text).group(1)) < 1e-4
    assert (trained / "runs" / "train" / "first" / "best.torchscript.pt").exists()


@pytest.mark.slow
def test_two_processes_train_over_gloo(trained):
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    run(trained, *launcher, *train_arguments("ddp"))
    values = losses(trained, "ddp")
    assert mean(values[-4:]) < 0.85 * mean(values[:4])
