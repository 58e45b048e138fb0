"""A rehearsal inside the reports of a migration, and on a page of its own."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_samples import HOSTILE

from npu_migrate.errors import InputError
from npu_migrate.rehearse.reading import read
from npu_migrate.rehearse.report import Note, Report, Use
from npu_migrate.report import html, writers
from npu_migrate.wording import LANGUAGES

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "report-schema.json").read_text(encoding="utf-8"))


class Attributes(HTMLParser):
    """The names of all attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.names = []
        self.feed(text)

    def handle_starttag(self, _tag, attrs):
        self.names += [name for name, _ in attrs]


def done(where="train.py:7", torch_npu="2.7.1.post11"):
    report = Report(torch_npu, "2.7.1", "8.3.RC1", "portable", ["python", "train.py"], steps=4, processes=2)
    report.operators = [
        Use("aten::mm", 8, "native", where),
        Use("aten::lgamma", 4, "cpu-fallback", where),
        Use("aten::hypot", 2, "unsupported", where),
    ]
    report.notes = [
        Note("cuda", "torch.cuda.synchronize", where, 1),
        Note("device-mix", "aten::add: on two devices", where, 1),
        Note("dtype", "aten::mm: float64", where, 3),
        Note("npu-name", "torch_npu.npu.synchronize", where, 5),
        Note("sync", ".item()", where, 16),
    ]
    return report


TOLD = ["aten::lgamma", "aten::hypot", "torch.cuda.synchronize", "aten::add", "float64", "npu.synchronize", ".item()"]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ["json", "md", "html"])
def test_every_remark_is_in_every_format(real, rules, name, lang):
    text = writers.WRITERS[name].render(replace(real, rehearsal=done()), rules, lang)
    plain = re.sub(r"<[^>]*>", "", text)
    for words in TOLD:
        assert words in plain
    assert "train.py:7" in plain
    assert "rehears" not in writers.WRITERS[name].render(real, rules, lang).lower()


def test_it_says_that_the_release_is_another_one(real, rules):
    text = writers.WRITERS["md"].render(replace(real, rehearsal=done(torch_npu="2.13.0")), rules, "en")
    assert "was for torch_npu 2.13.0, this report is for 2.7.1.post11" in text.replace("`", "")


def test_the_schema_holds(real, rules):
    one = json.loads(writers.WRITERS["json"].render(replace(real, rehearsal=done()), rules, "en"))
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(one)) == []
    assert one["rehearsal"]["operators"][1] == vars(done().operators[1])
    assert {note["kind"]: note.get("per_step") for note in one["rehearsal"]["notes"]}["sync"] == 2.0


@pytest.mark.parametrize("hostile", HOSTILE.values())
def test_nothing_of_the_program_becomes_markup(real, rules, hostile):
    shown = done(hostile)
    shown.command = [hostile]
    pages = [html.render_rehearsal(shown, "en"), html.render(replace(real, rehearsal=shown), rules, "en")]
    for page in pages:
        seen = Attributes(page)
        assert "<script>alert" not in page
        assert not [name for name in seen.names if name.startswith("on")]
    text = writers.WRITERS["md"].render(replace(real, rehearsal=shown), rules, "en")
    assert "\x1b" not in text
    outside = re.sub(r"(`+)[^`].*?\1", "", text)
    assert "@octocat" not in outside
    assert "![x]" not in outside


def test_a_page_of_its_own_holds_both_languages_and_all_operators():
    page = html.render_rehearsal(done(), "zh")
    assert '<html lang="zh-CN"' in page
    assert "预演" in page
    assert "Rehearsal" in page
    assert "aten::mm" in page
    assert "per step" in page


def test_what_was_written_is_read_back(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(done().json(), encoding="utf-8")
    assert read(path).data() == done().data()


BROKEN = {
    "no JSON": "{",
    "a list": "[]",
    "another report": '{"schema_version": 1, "findings": []}',
    "another version": '{"schema_version": 2}',
    "an operator without a name": done().json().replace('"name": "aten::mm"', '"nom": 1'),
    "a tier that is none": done().json().replace('"portable"', '"other"'),
    "a number that is a truth": done().json().replace('"steps": 4', '"steps": true'),
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_anything_else_is_one_clear_error(tmp_path, name):
    path = tmp_path / "r.json"
    path.write_text(BROKEN[name], encoding="utf-8")
    with pytest.raises(InputError, match="rehearsal-unreadable"):
        read(path)
