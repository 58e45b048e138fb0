"""Comments that keep the rules away work in every kind of file that has comments."""

from __future__ import annotations

import json

import pytest

from npu_migrate.files import find
from npu_migrate.model import Status

LINES = [
    ("yaml", "device: cuda  {}", "#"),
    ("ini", "device = cuda  {}", "#"),
    ("toml", 'device = "cuda"  {}', "#"),
    ("shell", "export CUDA_VISIBLE_DEVICES=0  {}", "#"),
    ("make", "\tnvidia-smi {}", "#"),
    ("dockerfile", "RUN pip install cupy-cuda11x {}", "#"),
    ("requirements", "cupy-cuda11x  {}", "#"),
    ("cmake", "find_package(CUDA REQUIRED)  {}", "#"),
    ("cpp", "auto d = torch::kCUDA;  {}", "//"),
    ("cuda", "{}\n__global__ void k(float* x) {{ x[threadIdx.x] = 0; }}", "//"),
]


def statuses(kind, text):
    return [finding.status for finding in find(kind, "f", text) if finding.status is not Status.KEPT]


@pytest.mark.parametrize(("kind", "line", "opens"), LINES, ids=[line[0] for line in LINES])
def test_a_comment_on_the_line_keeps_the_rules_away(kind, line, opens):
    assert Status.SUPPRESSED not in statuses(kind, line.format(""))
    assert statuses(kind, line.format(f"{opens} npu-migrate: ignore")) == [Status.SUPPRESSED]
    assert statuses(kind, line.format(f"{opens} seen  {opens} npu-migrate: ignore")) == [Status.SUPPRESSED]


def test_codes_and_their_prefixes_choose_the_rules():
    assert statuses("yaml", "device: cuda  # npu-migrate: ignore[NPU901]") == [Status.SUPPRESSED]
    assert statuses("yaml", "device: cuda  # npu-migrate: ignore[npu9, NPU101]") == [Status.SUPPRESSED]
    assert statuses("yaml", "device: cuda  # npu-migrate: ignore[NPU902]") == [Status.MANUAL, Status.ADVICE]


def test_blocks_and_files():
    block = "a: cuda:0\n# npu-migrate: off\nb: cuda:0\nc: cuda:1\n# npu-migrate: on\nd: cuda:0\n"
    assert statuses("yaml", block) == [Status.MANUAL, Status.SUPPRESSED, Status.SUPPRESSED, Status.MANUAL]
    whole = "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nENV CUDA_VISIBLE_DEVICES=0\n# npu-migrate: skip-file\n"
    assert statuses("dockerfile", whole) == [Status.SUPPRESSED, Status.SUPPRESSED]


def test_a_group_of_sites_loses_only_the_lines_with_a_comment():
    text = "auto a = torch::kCUDA;\nauto b = torch::kCUDA;  // npu-migrate: ignore\nauto c = torch::kCUDA;\n"
    group, single = find("cpp", "f.cpp", text)
    assert (group.status, dict(group.text.facts)["names"]) == (Status.MANUAL, "torch::kCUDA: 1, 3")
    assert (single.status, single.span.line) == (Status.SUPPRESSED, 2)


def test_many_equal_sites_are_not_told_as_suppressed():
    text = "".join(f"export CUDA_VISIBLE_DEVICES=0  {'' if n else '# npu-migrate: ignore'}\n" for n in range(30))
    assert statuses("shell", text).count(Status.SUPPRESSED) == 1


def test_a_comment_that_keeps_nothing_away_is_told():
    (idle,) = find("yaml", "f.yaml", "device: cpu  # npu-migrate: ignore\nname: my_cuda\n")[:1]
    assert (idle.rule, idle.text.key, idle.span.column) == ("NPU000", "unused-suppression", 14)


def test_what_looks_like_a_comment_is_none():
    assert statuses("yaml", "device: cuda#npu-migrate: ignore") != [Status.SUPPRESSED]
    assert statuses("yaml", "device: cuda  # npu-migrate: ignored") == [Status.MANUAL]


def test_cells_of_a_notebook_have_comments_of_their_own():
    cells = ["!nvidia-smi  # npu-migrate: ignore", "!nvidia-smi"]
    book = {"cells": [{"cell_type": "code", "source": source, "outputs": []} for source in cells]}
    found = find("notebook", "f.ipynb", json.dumps(book))
    assert [(finding.cell, finding.status) for finding in found] == [(1, Status.SUPPRESSED), (2, Status.MANUAL)]
