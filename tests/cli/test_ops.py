"""``npu-migrate ops``: one name, two releases, a list, a tree."""

from __future__ import annotations

import json

import pytest


def test_one_overload(run):
    result = run("ops", "show", "aten::lgamma", "--torch-npu", "2.13.0", "--format", "json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert list(found)[:4] == ["operator", "torch_npu", "status", "via"]
    assert (found["operator"], found["torch_npu"]) == ("aten::lgamma", "2.13.0")
    assert (found["status"], found["via"]) == ("cpu-fallback", "lgamma.out")


def test_a_python_name_has_its_overloads_and_the_worst_status(run):
    found = json.loads(run("ops", "show", "torch.linalg.inv", "--torch-npu", "2.7.1", "--format", "json").stdout)
    assert (found["api"], found["status"], found["because"]) == ("torch.linalg.inv", "cpu-fallback", "linalg_inv_ex")
    assert [one["operator"] for one in found["overloads"]] == ["aten::linalg_inv", "aten::linalg_inv.out"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("torch.std_mean", ["unsupported", "composite", "Huawei's documents (torch 2.7.1)"]),
        ("torch.topk", ["bf16, fp16", "returns sorted results only"]),
        ("torch.cuda.nvtx.range_push", ["missing", "mstx"]),
        ("torch_npu.npu_rms_norm", ["exists", "npu_rms_norm(Tensor self"]),
        ("torch.nn.functional.embedding_bag", ["_embedding_bag_backward"]),
    ],
)
def test_text_tells_it_all(run, name, says):
    result = run("ops", "show", name, "--torch-npu", "2.7.1")
    assert result.exit_code == 0
    assert [each for each in says if each not in result.stdout] == []


def test_an_unknown_name_is_an_error_with_near_ones(run):
    result = run("ops", "show", "torch.linalg.imv")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "near: torch.linalg.inv," in result.stderr
    assert "相近的有" in run("ops", "show", "torch.linalg.imv", "--lang", "zh").stderr
    assert "near" not in run("ops", "show", "zzzzzzzz").stderr


@pytest.mark.parametrize("args", [("show", "aten::add"), ("list",), ("check", ".")])
def test_an_unknown_release_is_an_error(run, args):
    result = run("ops", *args, "--torch-npu", "9.9")
    assert result.exit_code == 2
    assert "--torch-npu 9.9" in result.stderr


def test_two_releases(run):
    found = json.loads(run("ops", "diff", "2.7.1", "2.8.0", "--format", "json").stdout)
    assert (found["before"], found["after"]) == ("2.7.1.post11", "2.8.0.post5")
    adam = {"operator": "aten::_fused_adam_", "before": "native", "after": "cpu-fallback", "worse": True}
    assert adam in found["operators"]
    text = run("ops", "diff", "2.7.1", "2.8.0").stdout
    worse, other = text.split("Other changes of operators")
    assert "aten::_fused_adam_ " in worse
    assert "aten::_fused_adam_ " not in other


def test_a_list_by_status(run):
    found = json.loads(run("ops", "list", "--status", "missing", "--torch-npu", "2.7.1", "--format", "json").stdout)
    assert {one["status"] for one in found["operators"]} == {"missing"}
    assert found["count"] == len(found["operators"])
    text = run("ops", "--status", "missing", "--torch-npu", "2.7.1").stdout.splitlines()
    assert len(text) == 1 + found["count"]
    fewer = json.loads(run("ops", "list", "--cuda", "--torch-npu", "2.7.1", "--format", "json").stdout)
    assert all(one["cuda"] for one in fewer["operators"])
    assert "cpu-fallback" in run("ops", "list", "--status", "slow").stderr


@pytest.fixture
def tree_of_operators(tmp_path):
    (tmp_path / "a.py").write_text("import torch\ndef f(x):\n    return torch.relu(torch.lgamma(x))\n")
    (tmp_path / "requirements.txt").write_text("torch==2.7.1\n")
    return tmp_path


def test_a_tree(run, tree_of_operators):
    result = run("ops", "check", tree_of_operators, "--format", "json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["torch_npu"] == "2.7.1.post11"
    assert found["summary"]["apis"] == 2
    assert found["apis"][0] == {
        "api": "torch.lgamma",
        "status": "cpu-fallback",
        "why": "fallback",
        "operator": "aten::lgamma",
        "sites": [{"path": "a.py", "line": 3, "column": 23}],
    }
    text = run("ops", "check", tree_of_operators).stdout
    assert "torch.lgamma runs on the CPU" in text
    assert "a.py:3:23" in text
    assert "torch.relu" not in text


def test_a_tree_that_cannot_be_read_whole(run, tree_of_operators):
    (tree_of_operators / "b.py").write_text("import torch\ndef\n")
    result = run("ops", "check", tree_of_operators)
    assert result.exit_code == 3
    assert "b.py" in result.stdout
    assert run("ops", "check", tree_of_operators / "none").exit_code == 2


def test_names_of_files_stay_text(run, tree_of_operators):
    (tree_of_operators / "a.py").rename(tree_of_operators / "\x1b[2J\u202e.py")
    text = run("ops", "check", tree_of_operators).stdout
    assert "\\x1b[2J\\u202e.py:3:23" in text
    assert not {"\x1b", "\u202e"} & set(text)
