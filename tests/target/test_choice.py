from __future__ import annotations

import pytest

from npu_migrate import target
from npu_migrate.target import choice, pins


@pytest.mark.parametrize(
    ("file", "text", "release"),
    [
        ("requirements.txt", "numpy\ntorch==2.1.0+cu118  # cuda\n", "2.1.0.post17"),
        ("requirements-dev.txt", "torch >= 2.3, < 2.7 ; python_version >= '3.9'\n", "2.6.0.post5"),
        ("requirements.txt", "torch[extra]~=2.7.0\n", "2.7.1.post11"),
        ("requirements.txt", "torch==2.5.*\n", "2.5.1.post1"),
        ("pyproject.toml", '[project]\nname = "x"\ndependencies = ["torch<2.4"]\n', "2.3.1.post6"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = {version = "2.6.0"}\n', "2.6.0.post5"),
        ("setup.cfg", "[options]\ninstall_requires =\n  numpy\n  torch<=2.8\n", "2.8.0.post5"),
        ("setup.py", "from setuptools import setup\nsetup(install_requires=['torch<2.11'])\n", "2.10.0.post7"),
        ("environment.yml", "dependencies:\n  - python=3.10\n  - pytorch=2.1\n", "2.1.0.post17"),
        ("Dockerfile", "FROM pytorch/pytorch:2.4.0-cuda12.1-cudnn9-devel\n", "2.4.0.post4"),
        ("Dockerfile", "FROM ubuntu\nRUN pip install torch==2.9.0 torchvision\n", "2.9.0.post9"),
    ],
)
def test_the_tree_s_own_pin_decides(tmp_path, file, text, release):
    (tmp_path / file).write_text(text, encoding="utf-8")
    chosen = target.choose(tmp_path)
    assert chosen.torch_npu == release
    assert chosen.reason.key == "pinned"
    assert dict(chosen.reason.facts)["file"].startswith(file + ":")


@pytest.mark.parametrize(
    "text", ["torchvision==0.15\n", "pytorch-lightning==2.1\n", "# torch==2.1.0\n", "torch\n", "my-torch==2.1.0\n"]
)
def test_what_is_no_pin_of_torch_is_none(tmp_path, text):
    (tmp_path / "requirements.txt").write_text(text, encoding="utf-8")
    assert target.choose(tmp_path).reason.key == "newest"


def test_the_option_comes_first(tmp_path):
    (tmp_path / "requirements.txt").write_text("torch==2.1.0\n", encoding="utf-8")
    chosen = target.choose(tmp_path, "2.7.1")
    assert (chosen.torch_npu, chosen.reason.key, chosen.pin) == ("2.7.1.post11", "asked", None)


def test_a_pin_that_no_release_meets_is_said(tmp_path):
    (tmp_path / "requirements.txt").write_text("torch==1.4.0\n", encoding="utf-8")
    chosen = target.choose(tmp_path)
    assert (chosen.torch_npu, chosen.reason.key) == (target.known()[-1], "unmet")
    assert dict(chosen.reason.facts)["pin"] == "torch==1.4.0"


@pytest.mark.parametrize(("pin", "release"), [("==2.1.2", "2.1.0.post17"), ("==2.7.0+cu126", "2.7.1.post11")])
def test_a_patch_version_without_a_release_falls_to_its_series(tmp_path, pin, release):
    (tmp_path / "requirements.txt").write_text(f"torch{pin}\n", encoding="utf-8")
    chosen = target.choose(tmp_path)
    assert (chosen.torch_npu, chosen.reason.key) == (release, "series")


def test_a_single_file_is_not_pinned_by_folders_beside_it(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "Dockerfile").write_text("RUN pip install torch==2.9.0\n", encoding="utf-8")
    (tmp_path / "train.py").write_text("import torch\n", encoding="utf-8")
    assert target.choose(tmp_path / "train.py").reason.key == "newest"
    (tmp_path / "requirements.txt").write_text("torch==2.6.0\n", encoding="utf-8")
    assert target.choose(tmp_path / "train.py").torch_npu == "2.6.0.post5"


def test_pins_that_contradict_each_other_fall_to_the_most_deliberate_file(tmp_path):
    (tmp_path / "Dockerfile").write_text("RUN pip install torch==2.9.0\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch==2.6.0"]\n', encoding="utf-8")
    assert target.choose(tmp_path).torch_npu == "2.6.0.post5"


def test_files_that_cannot_be_read_say_nothing(tmp_path):
    (tmp_path / "setup.py").write_text("def broken(:\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[project\n", encoding="utf-8")
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfetorch")
    assert pins.pins(tmp_path) == []


def test_setup_py_is_not_executed(tmp_path):
    (tmp_path / "setup.py").write_text("raise SystemExit(['torch==2.1.0'])\n", encoding="utf-8")
    assert target.choose(tmp_path).torch_npu == "2.1.0.post17"


def test_a_release_outside_the_official_table_is_said_to_be_so(tmp_path):
    assert target.choose(tmp_path, "2.7.1.post11").remark.key == "unlisted"
    assert target.choose(tmp_path, "2.6.0.post5").remark is None


def test_every_reason_has_a_sentence_in_both_languages():
    for key in ("asked", "pinned", "series", "unmet", "newest", "unlisted"):
        facts = dict.fromkeys(("release", "torch", "pin", "file"), "x")
        assert choice.messages()[key]["en"].format(**facts)
        assert choice.messages()[key]["zh"].format(**facts)
