"""What is said about a use depends on the release and on the overload that its arguments choose."""

from __future__ import annotations

import ast

import pytest

from npu_migrate.engine.module import PythonModule
from npu_migrate.engine.text import SourceText
from npu_migrate.operators import interesting, judge, use_of
from npu_migrate.operators.survey import survey
from npu_migrate.target import load

HEAD = "import torch\nimport numpy as np\nfrom torch import nn\nimport torch.nn.functional as F\n"
NEWER = "2.13.0"


def said(source, release="2.7.1"):
    module = PythonModule("case.py", SourceText.decode((HEAD + source).encode()))
    node = next(node for node in ast.walk(module.tree.body[-1]) if isinstance(node, ast.Call))
    use = use_of(module, node)
    found = judge(load(release), use) if use is not None else None
    return found.key if found is not None else None


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ("torch.scatter(x, 1, i, s)", None),
        ("torch.scatter(x, 1, i, s, reduce='add')", "fallback"),
        ("torch.scatter(x, 1, i, s, reduce='add', out=x)", "fallback"),
        ("torch.scatter(x, 1, **options)", None),
        ("torch.max(x, y, out=x)", None),
        ("torch.lgamma(x, out=x)", "fallback"),
        ("torch.mm(x, y)", None),
        ("torch.repeat_interleave(x, 2)", None),
        ("torch.nanmedian(x, 0)", None),
        ("torch.linalg.eigh(x)", "fallback"),
        ("torch.special.zeta(x, y)", "fallback"),
        ("torch.sparse_coo_tensor(i, v, (2, 2))", None),
        ("torch.ops.aten.lgamma(x)", "fallback"),
        ("torch.ops.aten.scatter(x, 1, i, s)", None),
        ("torch.ops.aten.no_such_thing(x)", None),
        ("torch.distributions.Gamma(x, y)", "said-to"),
        ("torch.distributions.Normal(x, y)", None),
        ("np.linalg.inv(x)", None),
        ("unknown.lgamma()", None),
        ("unknown.logcumsumexp(0)", "fallback-likely"),
    ],
)
def test_by_overload(source, key):
    assert said(source) == key


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ("torch.mm(x, y, out_dtype=torch.float32)", "missing"),
        ("torch.repeat_interleave(repeats)", "fallback"),
        ("torch.repeat_interleave(x, repeats, dim=0)", None),
        ("torch.bmm(x, y, torch.float32)", "missing"),
    ],
)
def test_overloads_of_other_releases(source, key):
    assert said(source, "2.10.0.post2") == key


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ("def f(x: torch.Tensor):\n    return x.lgamma()", "fallback"),
        ("def f(x: str):\n    return x.logcumsumexp()", None),
        ("y = torch.ones(3) * 2\ny.lgamma()", "fallback"),
        ("y = torch.ones(3)\ny = make()\ny.lgamma()", None),
        ("class A:\n    def logcumsumexp(self):\n        return self.logcumsumexp()", None),
        ("[1].logcumsumexp()", None),
    ],
)
def test_methods_need_a_tensor(body, key):
    assert said(body) == key


def test_another_name_is_told_only_where_it_is_better():
    assert said("torch.linalg.inv(x)") == "fallback-instead"
    assert said("torch.std_mean(x)") == "documented-instead"
    assert said("torch.linalg.det(x)") == "fallback"


@pytest.mark.parametrize("release", ["1.11.0", "2.1.0", "2.7.1", NEWER])
def test_a_plain_program_is_of_no_interest(release):
    """Whatever most programs call must not be looked for, else every file is."""
    common = {
        "add",
        "cat",
        "Conv2d",
        "Linear",
        "max",
        "min",
        "mode",
        "index",
        "load",
        "save",
        "view",
        "softmax",
        "step",
    }
    assert not common & interesting(load(release))
    assert {"lgamma(", "digamma"} <= interesting(load(release)) or release.startswith("1.")


def test_a_survey_counts_names_and_places(tmp_path):
    (tmp_path / "a.py").write_text(HEAD + "def f(x, y):\n    return F.relu(torch.lgamma(x)) + y.view(2)\n")
    (tmp_path / "b.py").write_text(HEAD + "torch.lgamma(x); torch.lgamma(x)\n")
    (tmp_path / "broken.py").write_text("import torch\ndef\n")
    (tmp_path / "other.py").write_text("import numpy\n")
    found = survey([tmp_path], load("2.7.1"))
    assert found.files == 3
    assert found.unreadable == ["broken.py"]
    first, second = found.used
    assert (first.name, first.status) == ("torch.lgamma", "cpu-fallback")
    assert [(path, line) for path, line, _ in first.sites] == [("a.py", 6), ("b.py", 5), ("b.py", 5)]
    assert (second.name, second.status, second.why) == ("torch.nn.functional.relu", "native", "")
    assert found.counts()["cpu-fallback"] == found.counts()["native"] == 1
