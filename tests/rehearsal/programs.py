"""The real programs: what to run in which tree, and what that needs."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Callable, NamedTuple

import generated_data

RULES = Path(__file__).parents[2] / "rules" / "device"
PROJECTS = Path(__file__).with_name("projects")
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
YOLO_DDP = (
    "torchrun --standalone --nproc_per_node=2 train.py --data tiny.yaml --cfg models/yolov5n.yaml --weights '' --img "
    "64 --batch 4 --epochs 1 --workers 0 --device 0,1 --noplots"
)
WORDS = "cd word_language_model; python main.py --accel --epochs 1 --batch_size 4 --bptt 8"
IMAGENET = "cd imagenet; python main.py --dummy -a resnet18 --epochs 1 -b 4 -p 1 -j 0"
IMAGENET_DDP = f"{IMAGENET} --world-size 1 --rank 0 --multiprocessing-distributed --dist-url tcp://127.0.0.1:29689"
SUPER = "cd super_resolution; python main.py --accel --upscale_factor 3 --batchSize 2 --testBatchSize 2 --nEpochs 1"
TIMM = (
    "python train.py --data-dir pictures --model resnet18 --img-size 32 --num-classes 2 -b 4 --epochs 1 -j 1 --amp "
    "--no-prefetcher --log-interval 1"
)
DETR = (
    "TORCH_HOME=$PWD/hub python main.py --coco_path coco --batch_size 2 --num_workers 0 --epochs 1 --num_queries 5 "
    "--enc_layers 1 --dec_layers 1 --hidden_dim 32 --nheads 2 --dim_feedforward 32 --output_dir ."
)
VISION = ("torch", "numpy", "torchvision")


class Program(NamedTuple):
    """A command in a tree, what it needs, and how far it goes.

    ``tree`` is a checkout, or a folder of ``projects``. ``own_steps`` says that it moves its weights by itself, so that
    there are no steps of an optimizer to count; ``edit`` is what a person has to do after the migration.
    """

    tree: str
    command: str
    steps: int | None = None
    devices: int = 1
    needs: tuple[str, ...] = ("torch", "numpy")
    prepare: Callable[[Path], None] | None = None
    own_steps: bool = False
    edit: Callable[[Path], None] | None = None


def _letters(tree: Path) -> None:
    generated_data.characters(tree / "data" / "shakespeare_char")


def _digits(tree: Path) -> None:
    generated_data.digits(tree / "data")


def _wikitext(tree: Path) -> None:
    generated_data.words(tree / "word_language_model" / "data" / "wikitext-2")


def _pictures(tree: Path) -> None:
    generated_data.pictures(tree / "pictures")


def _berkeley(tree: Path) -> None:
    generated_data.berkeley(tree / "super_resolution")


def _give_an_accelerator(tree: Path) -> None:
    """What NPU109 asks for, as its page has it."""
    program = tree / "train.py"
    text = program.read_text(encoding="utf-8")
    strategy = 'SingleDeviceStrategy(device=torch.device("npu", 0))'
    text = text.replace('accelerator="gpu"', f"accelerator=NPUAccelerator(), strategy={strategy}")
    imports = (
        "from lightning.pytorch.strategies import SingleDeviceStrategy\nfrom npu_accelerator import NPUAccelerator\n"
    )
    program.write_text(text.replace("import lightning\n", f"import lightning\n{imports}"), encoding="utf-8")
    page = (RULES / "npu109_trainer_accelerator" / "en.md").read_text(encoding="utf-8")
    written = textwrap.dedent(page[page.index("    class NPUAccelerator") : page.index("\n\n\n    trainer = ")])
    accelerator = f"import torch\nfrom lightning.pytorch.accelerators import Accelerator\n\n\n{written}\n"
    (tree / "npu_accelerator.py").write_text(accelerator, encoding="utf-8")


def _narrow_the_meter(tree: Path) -> None:
    """What NPU603 asks for: HCCL does not add float64 up."""
    program = tree / "util" / "misc.py"
    text = program.read_text(encoding="utf-8")
    program.write_text(text.replace("dtype=torch.float64", "dtype=torch.float32"), encoding="utf-8")


_yolo = (*VISION, "cv2", "pandas", "seaborn", "IPython")
_old = (*_yolo, "numpy.trapz", "pkg_resources")  # what newer numpy and setuptools no longer have
_boxes = generated_data.boxes
PROGRAMS = {
    "yolov5-v7": Program("yolov5-v7.0", YOLO, needs=_old, prepare=_boxes),
    "yolov5": Program("yolov5", YOLO, needs=(*_yolo, "ultralytics"), prepare=_boxes),
    "nanogpt": Program("nanoGPT", f"python {GPT}", prepare=_letters),
    "nanogpt-ddp": Program("nanoGPT", f"torchrun --standalone --nproc_per_node=2 {GPT}", 2, 2, prepare=_letters),
    "mnist": Program("examples", "cd mnist; python main.py --epochs 1 --batch-size 16", None, 1, VISION, _digits),
    "mnist-rnn": Program("examples", "cd mnist_rnn; python main.py --epochs 1 --accel", 3, 1, VISION, _digits),
    "vae": Program("examples", "cd vae; python main.py --epochs 1 --batch-size 16", 3, 1, VISION, _digits),
    "dcgan": Program(
        "examples", "cd dcgan; python main.py --dataset fake --accel --batchSize 4 --niter 1 --workers 0", 2, 1, VISION
    ),
    "lstm": Program("examples", WORDS, prepare=_wikitext, own_steps=True),
    "transformer": Program("examples", f"{WORDS} --model Transformer --nhead 2", prepare=_wikitext, own_steps=True),
    "super-resolution": Program("examples", f"{SUPER} --threads 0", needs=(*VISION, "six"), prepare=_berkeley),
    "imagenet-ddp": Program("examples", IMAGENET_DDP, 2, 2, VISION),
    "timm": Program("timm", TIMM, needs=(*VISION, "huggingface_hub", "safetensors"), prepare=_pictures),
    "detr": Program("detr", DETR, needs=(*VISION, "pycocotools", "scipy"), prepare=generated_data.coco),
    "detr-ddp": Program(
        "detr",
        DETR.replace("python", "torchrun --standalone --nproc_per_node=2"),
        None,
        2,
        (*VISION, "pycocotools", "scipy"),
        generated_data.coco,
        edit=_narrow_the_meter,
    ),
    "yolov5-ddp": Program("yolov5", YOLO_DDP, None, 2, (*_yolo, "ultralytics"), _boxes),
    "timm-prefetch": Program(
        "timm", TIMM.replace("--no-prefetcher ", ""), None, 1, (*VISION, "huggingface_hub", "safetensors"), _pictures
    ),
    "timm-ddp": Program(
        "timm",
        TIMM.replace("python", "torchrun --standalone --nproc_per_node=2"),
        None,
        2,
        (*VISION, "huggingface_hub", "safetensors"),
        _pictures,
    ),
    "mingpt": Program("mingpt", "python train.py"),
    "lightning": Program("lightning_fit", "python train.py", needs=("torch", "lightning"), edit=_give_an_accelerator),
    "hf-trainer": Program("hf_trainer", "python train.py", needs=("torch", "transformers", "accelerate")),
}
