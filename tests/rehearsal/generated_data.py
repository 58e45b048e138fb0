"""Tiny data sets for the real programs, drawn here so that nothing is downloaded."""

# ruff: noqa: S311  (reproducible noise, no secrets)

from __future__ import annotations

import json
import pickle
import random
import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LETTERS = "abcdefgh \n"


def characters(folder: Path) -> None:
    """What nanoGPT's ``prepare.py`` leaves for a text of twenty thousand letters."""
    chance = random.Random(0)
    codes = [chance.randrange(len(LETTERS)) for _ in range(20000)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in (("train.bin", codes[:18000]), ("val.bin", codes[18000:])):
        (folder / name).write_bytes(struct.pack(f"<{len(part)}H", *part))
    table = {
        "vocab_size": len(LETTERS),
        "itos": dict(enumerate(LETTERS)),
        "stoi": {letter: code for code, letter in enumerate(LETTERS)},
    }
    (folder / "meta.pkl").write_bytes(pickle.dumps(table))


def words(folder: Path) -> None:
    """Three small texts in the shape of wikitext-2."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [" ".join(str(column * row % 17) for column in range(12)) for row in range(40)]
    for name in ("train", "valid", "test"):
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def digits(folder: Path) -> None:
    """Random images and labels in MNIST's own files."""
    chance = random.Random(0)
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", 96), ("t10k", 32)):
        images = struct.pack(">IIII", 2051, count, 28, 28) + bytes(chance.randrange(256) for _ in range(count * 784))
        labels = struct.pack(">II", 2049, count) + bytes(chance.randrange(10) for _ in range(count))
        (raw / f"{name}-images-idx3-ubyte").write_bytes(images)
        (raw / f"{name}-labels-idx1-ubyte").write_bytes(labels)


def _png(size: int, chance: random.Random) -> bytes:
    """A picture of noise with a filled box in the middle."""
    low, high = size // 6, 2 * size // 3

    def pixel(row: int, column: int) -> bytes:
        inside = low <= row < high and low <= column < high
        return b"\xff\x00\x00" if inside else bytes(chance.randrange(256) for _ in range(3))

    rows = b"".join(b"\x00" + b"".join(pixel(row, column) for column in range(size)) for row in range(size))
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    chunks = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def boxes(tree: Path) -> None:
    """Four pictures to train and four to validate, with one box each, in yolov5's layout."""
    chance = random.Random(0)
    for part in ("train", "val"):
        images, labels = tree / "tiny" / "images" / part, tree / "tiny" / "labels" / part
        images.mkdir(parents=True, exist_ok=True)
        labels.mkdir(parents=True, exist_ok=True)
        for number in range(4):
            (images / f"{number}.png").write_bytes(_png(64, chance))
            (labels / f"{number}.txt").write_text("0 0.41 0.41 0.5 0.5\n", encoding="utf-8")
    described = "path: tiny\ntrain: images/train\nval: images/val\nnc: 1\nnames: [box]\n"
    (tree / "tiny.yaml").write_text(described, encoding="utf-8")


def pictures(folder: Path, size: int = 48, classes: int = 2) -> None:
    """Twelve pictures of each class, to train and to validate, a folder each."""
    chance = random.Random(0)
    for part in ("train", "validation"):
        for label in range(classes):
            place = folder / part / f"class{label}"
            place.mkdir(parents=True, exist_ok=True)
            for number in range(12):
                (place / f"{number}.png").write_bytes(_png(size, chance))


def berkeley(tree: Path) -> None:
    """The folders of BSDS300, with four pictures each."""
    chance = random.Random(0)
    for part in ("train", "test"):
        place = tree / "dataset" / "BSDS300" / "images" / part
        place.mkdir(parents=True, exist_ok=True)
        for number in range(4):
            (place / f"{number}.png").write_bytes(_png(96, chance))


def coco(tree: Path) -> None:
    """COCO's layout with four pictures and one box each; and weights of noise where torchvision keeps downloads."""
    chance = random.Random(0)
    for part in ("train", "val"):
        place = tree / "coco" / f"{part}2017"
        place.mkdir(parents=True, exist_ok=True)
        for number in (1, 2, 3, 4):
            (place / f"{number}.png").write_bytes(_png(64, chance))
        listed = {
            "images": [{"id": n, "file_name": f"{n}.png", "width": 64, "height": 64} for n in (1, 2, 3, 4)],
            "annotations": [
                {"id": n, "image_id": n, "category_id": 1, "bbox": [10, 10, 32, 32], "area": 1024, "iscrowd": 0}
                for n in (1, 2, 3, 4)
            ],
            "categories": [{"id": 1, "name": "box"}],
        }
        described = tree / "coco" / "annotations" / f"instances_{part}2017.json"
        described.parent.mkdir(parents=True, exist_ok=True)
        described.write_text(json.dumps(listed), encoding="utf-8")
    _noise_for_the_backbone(tree / "hub" / "hub" / "checkpoints")


def _noise_for_the_backbone(folder: Path) -> None:
    import torch  # noqa: PLC0415  (only this program wants both)
    import torchvision  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    name = torchvision.models.ResNet50_Weights.IMAGENET1K_V1.url.rpartition("/")[2]
    torch.save(torchvision.models.resnet50().state_dict(), folder / name)
