"""Bad input: exit 2, one clear line, no traceback."""

from __future__ import annotations

import os
import re

import pytest

RULE = "[title]\nen = 'x'\n"


def complaint(result):
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("npu-migrate: ")
    return line


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "PATH"),
        (["nowhere"], "nowhere: no such file"),
        (["--apply", "rules"], "must be the first argument"),
        ([".", "--aply"], "did you mean --apply"),
        ([".", "--style", "portable"], "--style: .*npu"),
        ([".", "--format", "yaml"], "--format: .*text, json"),
        ([".", "--report", "r.pdf"], r"r\.pdf: .*\.json"),
        ([".", "--report", "nowhere/r.json"], "nowhere"),
        ([".", "--apply", "-o", "out"], "--apply and --output"),
        ([".", "-q", "-v"], "--quiet and --verbose"),
        ([".", "--torch-npu", "1.2.3.4"], r"1\.2\.3\.4.*near"),
        ([".", "--select", "NPU777"], "no rule NPU777"),
        ([".", "--select", ""], "--select: no rule is named"),
        ([".", "--ignore", " , "], "--ignore: no rule is named"),
        ([".", "--jobs", "0"], "--jobs"),
        ([".", "--rules", "nowhere"], r"nowhere: no rule\.toml"),
        (["rules", "lst"], "did you mean list"),
        (["rules", "show"], "CODE"),
        (["rules", "show", "NPU10"], "near: NPU101, NPU102"),
        (["rules", "new", "12", "x"], "looks like NPU123"),
        (["rules", "new", "NPU998", "No Name"], "looks like"),
        (["undo", "nowhere"], "nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_one_line(run, tmp_path, monkeypatch, args, says):
    monkeypatch.chdir(tmp_path)
    assert re.search(says, complaint(run(*args)))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("safty = 'exact'", "no setting safty; did you mean safety"),
        ("colour = 1", "no setting colour"),
        ("jobs = 'many'", "jobs must be 1, 2"),
        ("jobs = true", "jobs must be"),
        ("select = 'NPU1'", 'select must be \\["'),
        ("style = 'portable'", 'style must be "npu"'),
        ("apply = true", "apply belongs on the command line"),
        ("rules = ['evil']", "rules belongs on the command line"),
        ("= 3", "not valid TOML"),
    ],
)
def test_bad_settings(run, tmp_path, settings, says):
    (tmp_path / "pyproject.toml").write_text(f"[tool.npu-migrate]\n{settings}\n")
    line = complaint(run(tmp_path))
    assert re.search(says, line)
    assert "pyproject.toml" in line


@pytest.mark.parametrize("names", [["weights.xyz"], ["README.md"], ["weights.xyz", "README.md"]])
def test_files_of_kinds_that_are_not_read(run, tmp_path, names):
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.write_text("cuda\n")
    assert f"{paths[0]}: files of this kind are not read" in complaint(run(*paths))
    # A hook hands over whatever is staged, and beside a file that is read the others are no mistake.
    assert run(*paths, "--check").exit_code == 0
    (tmp_path / "a.py").write_text("x.cuda()\n")
    assert run(*paths, tmp_path / "a.py").exit_code == 0


def test_bad_rule_folder(run, tmp_path):
    (tmp_path / "rule.toml").write_text(RULE)
    assert "rule.toml: code is missing" in complaint(run("rules", "--rules", tmp_path))


def test_the_same_in_chinese(run):
    assert "没有选项 --aply" in complaint(run(".", "--aply", "--lang", "zh"))
    assert "没有这个文件" in complaint(run("nowhere", LANG="zh_CN.UTF-8"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_path_that_is_neither_file_nor_folder(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "neither a file nor a folder" in complaint(run(tmp_path / "pipe"))


def test_a_folder_that_may_not_be_read(run, tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.iterdir", refuse)
    assert "Permission denied" in complaint(run(tmp_path))


def test_a_folder_named_like_a_command(run, tmp_path, monkeypatch):
    (tmp_path / "rules").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "NPU101" in run("rules").output
    assert "No CUDA found" in run("./rules").output
    assert "No CUDA found" in run("--", "rules").output
