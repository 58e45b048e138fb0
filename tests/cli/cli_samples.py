"""A pack of two rules, and what an engine might find in a tree with them."""

from __future__ import annotations

from pathlib import Path

from npu_migrate.model import FileResult, Finding, Safety, Span, Status, Text

PACK = Path(__file__).parent / "pack"
TRAIN = b"import torch\n\nmodel = Net().cuda()\nbatch.cuda()\ntorch.cuda.jiterator(x)\n"
MOVED = TRAIN.replace(b"Net().cuda()", b"Net().npu()")


def site(place, status, key, *, rule="TST102", path="train.py", **facts):
    safety = Safety.EXACT if status is Status.REWRITTEN else None
    text = Text(rule, key, tuple(facts.items()))
    line, column = place
    span = Span(line, column, line, column + 4)
    return Finding(rule, path, span, status, text, safety, "torch.Tensor.cuda", "cuda", "npu" if safety else "")


def train():
    return FileResult(
        "train.py",
        "python",
        (
            site((5, 1), Status.UNSUPPORTED, "gone", name="jiterator", release="2.7.1"),
            site((4, 7), Status.MANUAL, "why", name="batch.cuda"),
            site((3, 15), Status.REWRITTEN, "renamed", rule="TST101", old=".cuda()", new=".npu()"),
        ),
        TRAIN,
        MOVED,
    )


def notes():
    return FileResult(
        "docs/说明.py",
        "python",
        (
            site((1, 1), Status.ADVICE, "why", path="docs/说明.py", name="数据"),
            site((2, 1), Status.KEPT, "why", path="docs/说明.py", name="cuda"),
            site((2, 9), Status.KEPT, "why", path="docs/说明.py", name="cuda"),
        ),
    )
