"""A trace inside the reports of a migration."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_samples import HOSTILE

from npu_migrate import target
from npu_migrate.errors import InputError
from npu_migrate.report import writers
from npu_migrate.tracing import Trace, Use
from npu_migrate.tracing.coverage import judge
from npu_migrate.tracing.telling import brief, text
from npu_migrate.tracing.trace import read
from npu_migrate.wording import LANGUAGES

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "report-schema.json").read_text(encoding="utf-8"))
SHAPES = ("float32[2,3]",)


def seen(place="Net.last", error=""):
    uses = [
        Use("aten::lgamma", "forward", place, "Last", "net.py:7", 4, SHAPES),
        Use("aten::_thnn_fused_gru_cell_backward", "backward", place, "GRUCell", "", 2, ("",)),
        Use("aten::matmul", "forward", place, "Linear", "net.py:9", 1, ("float64[2,3], float64[3,4]",), more=True),
        Use("aten::mm", "outside", "", "", place, 3, SHAPES),
        Use("torchvision::nms", "forward", place, "Detect", "net.py:11", 1, SHAPES),
        Use("aten::_foreach_mul_.Scalar", "optimizer", "", "", "train.py:3", 1, SHAPES),
    ]
    ended = "failed" if error else "finished"
    return Trace(["train.py", "--epochs", "1"], "2.13.0", "cpu", ended, 0, 1, error, uses)


def covered(*args, **options):
    return judge(seen(*args, **options), target.load("2.13.0"))


TOLD = ["aten::lgamma", "aten::_thnn_fused_gru_cell_backward", "torchvision::nms", "float64", "net.py:7", "GRUCell"]


def test_the_groups_and_their_order():
    found = covered()
    assert [(row.name, row.group) for row in found.rows[:3]] == [
        ("aten::_thnn_fused_gru_cell_backward", "missing"),
        ("aten::lgamma", "cpu-fallback"),
        ("torchvision::nms", "unknown"),
    ]
    assert found.counts() == {"missing": 1, "cpu-fallback": 1, "unknown": 1, "composite": 0, "native": 3}
    assert [row.name for row in found.trouble("types")] == ["aten::matmul"]
    assert ("Net.last", "GRUCell", {**dict.fromkeys(found.counts(), 0), "missing": 1}) in found.modules()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ["json", "md", "html"])
def test_every_trouble_is_in_every_format(real, rules, name, lang):
    shown = writers.WRITERS[name].render(replace(real, trace=covered()), rules, lang)
    plain = re.sub(r"<[^>]*>", "", shown)
    for words in TOLD:
        assert words in plain
    assert "aten::lgamma" not in writers.WRITERS[name].render(real, rules, lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_text_tells_it_all(lang):
    shown = text(covered(), lang, modules=True)
    for words in [*TOLD, "float32[2,3]", "float64[2,3], float64[3,4]; ..."]:
        assert words in shown
    assert "train.py --epochs 1" in brief(covered(), lang)
    assert re.search(r"\{\w+\}", shown + brief(covered(), lang)) is None


ERRORS = {
    "ModuleNotFoundError: No module named 'torch_npu'": "migrated already",
    "RuntimeError: Found no NVIDIA driver on your system": "insists on CUDA",
    "AssertionError: Torch not compiled with CUDA enabled": "insists on CUDA",
    "KeyError: 'x'": "",
}


@pytest.mark.parametrize("error", ERRORS)
def test_a_failure_comes_with_what_it_means(error):
    lines = text(covered(error=error), "en").splitlines()
    assert error in lines[1]
    assert ERRORS[error] in lines[2]
    assert bool(ERRORS[error]) is ("npu-migrate rehearse" in lines[2])


def test_the_schema_holds(real, rules):
    one = json.loads(writers.WRITERS["json"].render(replace(real, trace=covered()), rules, "en"))
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(one)) == []
    assert one["trace"]["summary"]["cpu-fallback"] == 1
    assert one["trace"]["operators"][1]["via"] == "lgamma.out"


class Attributes(HTMLParser):
    """The names of all attributes of a page."""

    def __init__(self, shown):
        super().__init__()
        self.names = []
        self.feed(shown)

    def handle_starttag(self, _tag, attrs):
        self.names += [name for name, _ in attrs]


@pytest.mark.parametrize("hostile", HOSTILE.values())
def test_nothing_of_the_program_becomes_markup(real, rules, hostile):
    one = judge(replace_command(seen(hostile, error=hostile), hostile), target.load("2.13.0"))
    page = writers.WRITERS["html"].render(replace(real, trace=one), rules, "en")
    assert "<script>alert" not in page
    assert not [name for name in Attributes(page).names if name.startswith("on")]
    shown = writers.WRITERS["md"].render(replace(real, trace=one), rules, "en")
    assert "\x1b" not in shown
    outside = re.sub(r"(`+)[^`].*?\1", "", shown)
    assert "@octocat" not in outside
    assert "![x]" not in outside


def replace_command(trace, hostile):
    trace.command = [hostile]
    return trace


def written(**changes):
    data = {"trace": seen().data()}
    data["trace"].update(changes)
    return json.dumps(data)


def test_what_was_written_is_read_back(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(written(), encoding="utf-8")
    assert read(path) == seen()


BROKEN = {
    "no JSON": "{",
    "a list": "[]",
    "another report": '{"schema_version": 1, "findings": []}',
    "a trace that is text": '{"trace": "x"}',
    "a field too many": written(colour="red"),
    "an end that is none": written(ended="bored"),
    "a count that is text": written(steps="4"),
    "uses that are numbers": written(uses=[1]),
    "a command that is none": written(command=[1]),
    "a phase that is none": written().replace('"backward"', '"sideways"'),
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_anything_else_is_one_clear_error(tmp_path, name):
    path = tmp_path / "t.json"
    path.write_text(BROKEN[name], encoding="utf-8")
    with pytest.raises(InputError, match="trace-unreadable"):
        read(path)
