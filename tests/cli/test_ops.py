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


MODEL = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return torch.lgamma(x)

def make():
    return Net(), torch.ones(2, 3, requires_grad=True)
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("net.py").write_text(MODEL, encoding="utf-8")
    tmp_path.joinpath("requirements.txt").write_text("torch==2.7.1\n", encoding="utf-8")
    return tmp_path


def test_a_trace_goes_into_the_report_of_the_tree(run, model):
    traced = run("ops", "trace", "--format", "json", "net:make")
    found = json.loads(traced.stdout)
    assert (traced.exit_code, found["schema_version"]) == (0, 1)
    assert found["target"] == {"torch_npu": "2.7.1.post11", "torch": "2.7.1"}
    assert {one["operator"]: one["group"] for one in found["operators"]}["aten::digamma"] == "cpu-fallback"
    model.joinpath("trace.json").write_text(traced.stdout, encoding="utf-8")
    result = run(".", "--trace", "trace.json", "--report", "r.json", "--torch-npu", "2.13.0")
    assert "Trace of net:make: operators" in result.stdout
    merged = json.loads(model.joinpath("r.json").read_text(encoding="utf-8"))["trace"]
    assert merged["trace"] == found["trace"]
    assert merged["target"]["torch_npu"] == "2.13.0"


def test_the_text_of_a_trace(run, model):
    result = run("ops", "trace", "-v", "--torch-npu", "2.13.0", "net:make")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert any(line.startswith("    forward Net  net.py:6  x1  float32[2,3]") for line in lines)
    assert "  Net (Net)  on the CPU 2" in result.stdout
    assert model.joinpath("net.py").read_text(encoding="utf-8") == MODEL


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["net:Net"], "--input"),
        (["net:absent"], "absent"),
        (["net"], "MODULE:CALLABLE"),
        (["net:make", "--format", "json"], "options stand before"),
        (["--input", "2y", "net:Net"], "--input 2y"),
        (["gone.py"], "gone.py"),
    ],
)
def test_what_cannot_be_traced_is_one_line(run, model, words, says):
    result = run("ops", "trace", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1, model


USING = """
import torch

global dist


def setup():
    global dist
    dist.barrier()


x = torch.ones(2).lgamma()
y = torch.matmul(x, x)
z = torch.linalg.inv(y)
"""


def test_reports_tell_the_operators_that_a_tree_uses(run, tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(70):  # enough for a second process
        tree.joinpath(f"m{number}.py").write_text(USING, encoding="utf-8")
    tree.joinpath("old.py").write_text("import torch\nprint 'Python 2'\n", encoding="utf-8")
    run(
        tree,
        "--torch-npu",
        "2.13.0",
        "--jobs",
        "2",
        *(f"--report={tmp_path}/r.{kind}" for kind in ("json", "html", "md")),
    )
    told = json.loads(tmp_path.joinpath("r.json").read_text(encoding="utf-8"))["operators"]
    assert (told["files"], told["statuses"]["cpu-fallback"]) == (71, 2)
    assert [one["api"] for one in told["worst"]] == ["torch.Tensor.lgamma", "torch.linalg.inv"]
    assert [len(one["sites"]) for one in told["worst"]] == [70, 70]
    assert told["worst"][0]["sites"][0] == {"path": "m0.py", "line": 12, "column": 5}
    checked = json.loads(run("ops", "check", tree, "--torch-npu", "2.13.0", "--format", "json").stdout)
    assert [one["sites"] for one in checked["apis"] if "why" in one] == [one["sites"] for one in told["worst"]]
    assert "Operators that this tree uses" in tmp_path.joinpath("r.html").read_text(encoding="utf-8")
    assert "cpu-fallback 2" in tmp_path.joinpath("r.md").read_text(encoding="utf-8")


def test_names_of_files_stay_text(run, tree_of_operators):
    (tree_of_operators / "a.py").rename(tree_of_operators / "\x1b[2J\u202e.py")
    text = run("ops", "check", tree_of_operators).stdout
    assert "\\x1b[2J\\u202e.py:3:23" in text
    assert not {"\x1b", "\u202e"} & set(text)
