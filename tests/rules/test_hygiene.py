"""Every rule is documented in both languages, its example is its fixture, and nothing in its ``rule.toml`` is idle."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from npu_migrate import packs
from npu_migrate.engine import fixtures
from npu_migrate.engine.module import PythonModule
from npu_migrate.engine.rules import ActiveRules
from npu_migrate.engine.text import SourceText
from npu_migrate.target import load

REGISTRY = packs.load()
RULES = REGISTRY.all()
WITH_CODE = [info for info in RULES if info.source is not None]
HEADINGS = {
    "en": ["What it does", "Why on Ascend", "Example", "Safety", "References"],
    "zh": ["作用", "为什么在昇腾上需要", "示例", "安全级别", "参考"],
}
LANGUAGES = sorted(HEADINGS)
TARGET = load(fixtures.RELEASE)
FAMILIES = {
    "engine": "0",
    "device": "1",
    "apis": "2",
    "precision": "3",
    "data": "4",
    "structure": "5",
    "distributed": "6",
    "libraries": "7",
    "operators": "8",
    "project": "9",
}


def concerned(rules, module):
    return rules.for_module(module) or rules.inspectors.chosen(module.text.encode())


def by_code(info):
    return info.code


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("info", RULES, ids=by_code)
def test_pages_have_the_same_headings(info, lang):
    page = info.page(lang).read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == HEADINGS[lang]
    assert page.splitlines()[0] == f"# {info.code} {info.name}"


# Code, quotations of error messages, and names written in Latin letters are no sentences.
NOT_PROSE = re.compile(r"```.*?```|^ {4}[^\n]*|`[^`\n]*`|“[^”\n]*”", re.DOTALL | re.MULTILINE)
ENGLISH = re.compile(r"\b[a-z]{2,} (?:[a-z]{2,} )+[a-z]{2,}\b")


@pytest.mark.parametrize("info", RULES, ids=by_code)
def test_nothing_chinese_is_left_in_english(info):
    texts = [
        info.page("zh").read_text(encoding="utf-8"),
        info.title["zh"],
        *(one["zh"] for one in info.messages.values()),
    ]
    assert [found for text in texts for found in ENGLISH.findall(NOT_PROSE.sub("", text))] == []
    references = texts[0].partition("## 参考")[2].splitlines()
    words = [NOT_PROSE.sub("", line) for line in references]
    assert [line for line in words if ": " in line and not re.search("[\u4e00-\u9fff]", line)] == []


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("info", WITH_CODE, ids=by_code)
def test_the_example_is_the_basic_fixture(info, lang):
    blocks = re.findall(r"```python\n(.*?)```", info.page(lang).read_text(encoding="utf-8"), re.DOTALL)
    case = info.fixtures / "basic.in.py"
    files = [path for path in (case, case.with_name("basic.out.py")) if path.is_file()]
    assert [block.strip() for block in blocks[: len(files)]] == [
        path.read_text(encoding="utf-8").strip() for path in files
    ]


@pytest.mark.parametrize("info", RULES, ids=by_code)
def test_code_folder_and_family_agree(info):
    assert info.folder.name == f"{info.code}_{info.name}".lower().replace("-", "_")
    assert info.code[3] == FAMILIES[info.folder.parent.name]


@pytest.mark.parametrize("info", WITH_CODE, ids=by_code)
def test_every_keyword_occurs_in_a_fixture(info):
    modules = [PythonModule("case.py", SourceText.decode(case.read_bytes())) for case in fixtures.cases(info)]
    alone = {word: ActiveRules([replace(info, keywords=(word,), also=())], TARGET) for word in info.keywords}
    idle = [word for word, rules in alone.items() if not any(concerned(rules, module) for module in modules)]
    assert not idle


@pytest.mark.parametrize("info", WITH_CODE, ids=by_code)
def test_every_message_is_said_by_some_fixture_or_rule_text(info):
    source = info.source.read_text(encoding="utf-8")
    said = {f.text.key for case in fixtures.cases(info) for f in fixtures.run(case, info).findings}
    idle = [key for key in info.messages if key not in said and f'"{key}"' not in source and "." not in key]
    assert not idle
