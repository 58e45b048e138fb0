"""A baseline knows a site by what it is, not by where it stands."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from npu_migrate.errors import InputError
from npu_migrate.gate import baseline
from npu_migrate.gate.identity import Identities

BEFORE = """\
import torch

class Net:
    def forward(self, x):
        x = x.to("cuda")
        return x.to("cuda")

model = Net().to("cuda")
"""


@pytest.fixture
def known(report, tmp_path):
    """What a baseline of the tree knows, by way of the file."""
    path = tmp_path / "baseline.json"
    path.write_text(baseline.render(report({"a.py": BEFORE})), encoding="utf-8")
    return baseline.read(path)


@pytest.mark.parametrize(
    ("text", "new", "gone"),
    [
        (BEFORE, 0, 0),
        ("# moved down\n" * 40 + BEFORE, 0, 0),
        (BEFORE.replace("        x = x", "      \tx  =  x"), 0, 0),
        (BEFORE.replace("import torch", "import torch, os\nif os:\n    pass"), 0, 0),
        (BEFORE.replace("forward", "run"), 0, 0),
        (BEFORE.replace('return x.to("cuda")', 'return x.to("cuda")  # for now'), 0, 0),
        (BEFORE + 'other = Net().to("cuda")\n', 1, 0),
        (BEFORE + BEFORE.replace("class Net", "class Twin"), 3, 0),
        (BEFORE.replace('model = Net().to("cuda")', ""), 0, 1),
        (BEFORE.replace('model = Net().to("cuda")', 'loss.backward(device="cuda", keep=not True)'), 1, 1),
        (BEFORE.replace('"cuda"', '"npu"'), 0, 3),
        (BEFORE.replace('model = Net().to("cuda")', 'model = Net().to("cuda_kept")'), 1, 1),
    ],
    ids=[
        "same", "moved", "spaces", "edited elsewhere", "function renamed", "line edited", "one more", "copied",
        "one less", "another line", "all mended", "another site",
    ],
)  # fmt: skip
def test_what_is_new(report, known, text, new, gone):
    compared = baseline.compare(report({"a.py": text}), known)
    assert (len(compared.new), compared.gone) == (new, gone)


def test_the_new_one_of_many_is_named(report, known):
    grown = BEFORE.replace("        x = x", '        y = torch.zeros(3, device="cuda")\n        x = x')
    (finding,) = baseline.compare(report({"a.py": grown}), known).new
    assert finding.span.line == 5


def test_another_file_is_another_site(report, known):
    assert len(baseline.compare(report({"b.py": BEFORE}), known).new) == 3


def test_the_file_is_sorted_and_the_same_each_time(report):
    files = {"b.py": BEFORE, "a.py": "x = cuda\nx = cuda\n"}
    text = baseline.render(report(files))
    assert text == baseline.render(report(dict(reversed(files.items()))))
    assert json.loads(text)["findings"]["a.py"] == [
        {"rule": "NPU101", "in": "", "code": "x = cuda", "site": "cuda", "count": 2}
    ]
    assert list(json.loads(text)["findings"]) == ["a.py", "b.py"]
    assert text.count("\n   {") == 4


def test_a_baseline_of_nothing(report, tmp_path):
    path = tmp_path / "b.json"
    path.write_text(baseline.render(report({})))
    assert baseline.read(path) == Counter()


def test_after_apply_only_what_is_left_is_known(report):
    text = baseline.render(report({"a.py": "cuda\ncuda_kept\n"}, mode="apply"))
    assert [entry["site"] for entry in json.loads(text)["findings"]["a.py"]] == ["cuda_kept"]


def test_file_names_that_are_no_text_survive(report, tmp_path):
    path = tmp_path / "b.json"
    run = report({"caf\udce9.py": "x = cuda\n"})
    path.write_bytes(baseline.render(run).encode("utf-8", "backslashreplace"))
    assert baseline.compare(run, baseline.read(path)).new == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n", "baseline-not-one"),
        ("[]", "baseline-not-one"),
        ('{"tool": "other", "baseline_version": 1}', "baseline-not-one"),
        ("[" * 100000, "baseline-not-one"),
        ('{"tool": "npu-migrate", "baseline_version": 2}', "baseline-version"),
        ('{"tool": "npu-migrate", "baseline_version": 1}', "baseline-broken"),
        ('{"tool": "npu-migrate", "baseline_version": 1, "findings": {"a.py": [{"rule": "X"}]}}', "baseline-broken"),
    ],
)
def test_what_is_no_baseline(tmp_path, text, says):
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        baseline.read(path)
    assert caught.value.says == says


def test_many_edited_lines_are_still_known(report):
    text = "".join(f'x{n} = y.to("cuda", {n})\n' for n in range(800))
    first = report({"a.py": text})
    counts = Counter(map(Identities(first).site, first.findings))
    edited = report({"a.py": text.replace("y.to", "z.to")})
    assert baseline.compare(edited, counts) == ((), 800, 0)
