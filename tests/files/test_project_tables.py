"""The tables beside the project rules, their pages and keywords are in order."""

from __future__ import annotations

import re

import pytest

from npu_migrate import packs, tomlfile
from npu_migrate.engine.kinds import kind_of
from npu_migrate.files import KINDS, marks, tables
from npu_migrate.files.sites import Mark
from npu_migrate.target import load

REGISTRY = packs.load()
RULES = [info for info in REGISTRY.all() if info.folder.parent.name == "project"]
PROJECT = packs.builtin() / "project"
HEADINGS = {
    "en": ["What it does", "Why on Ascend", "Example", "Safety", "References"],
    "zh": ["作用", "为什么在昇腾上需要", "示例", "安全级别", "参考"],
}


def test_every_mark_has_its_message():
    for name, mark in vars(marks).items():
        if isinstance(mark, Mark):
            assert mark.key in REGISTRY.find(mark.rule).messages, name


def test_every_package_has_its_message():
    table = tomlfile.read(PROJECT / "packages.toml")["package"]
    missing = {row["message"] for row in table.values()} - set(REGISTRY.find(marks.PACKAGE_RULE).messages)
    assert not missing
    for name, row in table.items():
        assert tables.package(name.replace("*", "0")) is not None, name
        assert row["status"] in {"manual", "unsupported", "advice"}, name
        assert name == name.lower(), name
        assert "_" not in name, name


@pytest.mark.parametrize("release", ["2.1.0", "2.7.1", "2.12.0"])
def test_operators_named_beside_kernels_exist(release):
    target = load(release)
    for pattern, operator in tables.kernels():
        assert target.has(operator), pattern.pattern


def test_ascend_variables_exist_and_invented_ones_do_not():
    read = set(tomlfile_json("environment.json"))
    table = tomlfile.read(PROJECT / "environment.toml")["variable"]
    for name, row in table.items():
        assert row["source"], name
        ascend = row.get("ascend")
        assert ascend is None or ascend in read or "HCCL documentation" in row["source"] or "CANN" in row["source"], (
            name
        )
        assert (name in read) <= (row["message"] != "invented"), name


def tomlfile_json(name):
    import json  # noqa: PLC0415 -- one test reads the database as it lies on the disk

    return json.loads((packs.builtin() / "coverage" / name).read_text(encoding="utf-8"))["read"]


def test_nccl_variables_are_all_known():
    assert tables.variable("NCCL_SOMETHING_NEW").message == "none"
    assert tables.variable("TORCH_NCCL_NEW").message == "none"
    assert tables.variable("NCCLISH") is None
    assert tables.variable("PATH") is None


def test_keywords_cover_what_the_finders_look_for():
    keywords = [word.lower() for info in RULES for word in info.keywords]
    assert [needle for needle in tables.needles() if not any(word in needle for word in keywords)] == []


@pytest.mark.parametrize("info", RULES, ids=lambda info: info.code)
def test_rules_speak_of_kinds_that_exist(info):
    assert set(info.files) <= set(KINDS)
    assert not info.codemod.exists()


@pytest.mark.parametrize("lang", HEADINGS)
@pytest.mark.parametrize("info", RULES, ids=lambda info: info.code)
def test_pages_have_their_headings_and_the_example_of_the_fixture(info, lang):
    page = info.page(lang).read_text(encoding="utf-8")
    assert page.splitlines()[0] == f"# {info.code} {info.name}"
    assert re.findall(r"(?m)^## (.*)$", page) == HEADINGS[lang]
    (example,) = re.findall(r"(?ms)^```\w+\n(.*?)^```$", page)
    (basic,) = [case for case in info.fixtures.glob("*.in.*") if "basic" in case.name]
    assert example == basic.read_text(encoding="utf-8")
    assert kind_of(basic.name) in info.files
