"""Rules are found, read, checked and chosen."""

from __future__ import annotations

import pickle
import re
import shutil
import sys
from pathlib import Path

import pytest

from npu_migrate import packs
from npu_migrate.model import Safety, Text

RULE = """\
code = "TST1"
name = "one"
since = "0.1.0"
status = "stable"
safety = "behaviour"
review = "skim"
keywords = ["cuda", "half"]
region = "class"
files = ["python"]
references = []

[title]
en = "One"
zh = "一"

[messages.renamed]
en = "`{old}` becomes `{new}`, {{really}}"
zh = "`{old}` 改为 `{new}`"
""".replace("TST1", "TST001")


def add(folder, text=RULE, **changes):
    """A rule folder; ``changes`` replace whole lines."""
    for key, value in changes.items():
        text = re.sub(rf"(?m)^{key} = .*$", f'{key} = "{value}"', text)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rule.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def registry(tmp_path):
    add(tmp_path / "one")
    add(tmp_path / "family" / "two", "order = -1\n" + RULE, code="TST102", name="number-two")
    add(tmp_path / "family" / "three", code="TST103", name="number-three")
    return packs.Registry(map(packs.read, packs.rule_files(tmp_path)))


def codes(rules):
    return [rule.code for rule in rules]


def test_what_a_rule_says(tmp_path):
    rule = packs.read(add(tmp_path / "one") / "rule.toml")
    assert (rule.code, rule.name, rule.safety, rule.region) == ("TST001", "one", Safety.BEHAVIOUR, "class")
    assert rule.keywords == ("cuda", "half")
    assert rule.title["zh"] == "一"
    assert rule.order == 0
    assert rule.page("zh") == tmp_path / "one" / "zh.md"
    assert pickle.loads(pickle.dumps(rule)) == rule  # noqa: S301 - our own: rules travel to worker processes


@pytest.mark.parametrize(
    ("line", "instead", "says"),
    [
        ('code = "TST001"', "", "rule-key-missing: .*key=code"),
        ('code = "TST001"', 'code = "one"', "rule-key-form: .*value=one"),
        ('name = "one"', 'name = "One Rule"', "rule-key-form"),
        ('since = "0.1.0"', 'since = "soon"', "rule-key-form"),
        ('status = "stable"', 'status = "done"', "rule-key-choice: .*choices=stable, preview"),
        ('safety = "behaviour"', "safety = 3", "rule-key-type"),
        ('keywords = ["cuda", "half"]', 'keywords = "cuda"', "rule-key-type: .*key=keywords"),
        ('keywords = ["cuda", "half"]', 'keywords = ["cuda", 1]', "rule-key-type"),
        ("references = []", "refrences = []\nreferences = []", "rule-key-unknown-near: .*near=references"),
        ("references = []", "references = []\norder = true", "rule-key-type: .*key=order"),
        ('zh = "一"', "", "rule-key-type: .*key=title"),
        ('zh = "一"', 'zh = " "', "rule-key-type: .*key=title"),
        ('zh = "`{old}` 改为 `{new}`"', "", r"rule-key-type: .*key=messages\.renamed"),
        ('code = "TST001"', "code = ", "toml: "),
    ],
)
def test_what_is_wrong_with_a_rule(tmp_path, line, instead, says):
    assert line in RULE
    add(tmp_path / "one", RULE.replace(line, instead))
    with pytest.raises(packs.InputError, match=says) as caught:
        packs.read(tmp_path / "one" / "rule.toml")
    assert caught.value.facts["path"].endswith("rule.toml")


@pytest.mark.parametrize("key", ["code", "name"])
def test_a_code_or_name_belongs_to_one_rule(tmp_path, key):
    add(tmp_path / "one")
    add(tmp_path / "two", **{"code": "TST002", "name": "two", key: {"code": "TST001", "name": "one"}[key]})
    with pytest.raises(packs.PackError, match="rule-twice"):
        packs.Registry(map(packs.read, packs.rule_files(tmp_path)))


def test_find_by_code_or_name(registry):
    assert registry.find("tst102") is registry.find("number-two")
    with pytest.raises(packs.PackError, match=r"near=.*number-two"):
        registry.find("number-tow")
    with pytest.raises(packs.PackError, match=r"near=TST102, TST103$"):
        registry.find("tst10")
    with pytest.raises(packs.PackError, match="rule-unknown: "):
        registry.find("zzz")


@pytest.mark.parametrize(
    ("select", "ignore", "chosen"),
    [
        ([], [], ["TST102", "TST001", "TST103"]),
        (["TST1"], [], ["TST102", "TST103"]),
        (["tst1"], ["TST103"], ["TST102"]),
        (["one", "TST103"], [], ["TST001", "TST103"]),
        ([], ["number-two", "TST0"], ["TST103"]),
    ],
)
def test_select_in_the_order_of_running(registry, select, ignore, chosen):
    assert codes(registry.select(select, ignore)) == chosen


@pytest.mark.parametrize("selector", ["TST9", "", "numbers"])
def test_a_selector_must_fit(registry, selector):
    with pytest.raises(packs.PackError, match="rule-unknown"):
        registry.select([selector])
    with pytest.raises(packs.PackError, match="rule-unknown"):
        registry.select([], [selector])


def test_facts_are_data(registry):
    text = Text("TST001", "renamed", (("old", "{new}{{"), ("new", "%s {0}")))
    assert registry.message(text, "en", strict=True) == "`{new}{{` becomes `%s {0}`, {really}"
    assert registry.message(text, "zh") == "`{new}{{` 改为 `%s {0}`"


@pytest.mark.parametrize("text", [Text("TST001", "gone", (("a", "b"),)), Text("TST999", "gone", (("a", "b"),))])
def test_a_message_that_does_not_exist_costs_nobody_the_report(registry, text):
    assert registry.message(text, "en") == "gone a=b"
    with pytest.raises(packs.PackError, match="message-unknown"):
        registry.message(text, "en", strict=True)


def test_a_fact_that_is_missing_stays_visible(registry):
    text = Text("TST001", "renamed", (("old", "a"),))
    assert registry.message(text, "en") == "`a` becomes `{new}`, {really}"
    with pytest.raises(packs.PackError, match="message-unknown"):
        registry.message(text, "en", strict=True)


def test_a_pack_without_rules_is_an_error(tmp_path):
    with pytest.raises(packs.PackError, match="no-rules"):
        packs.load([tmp_path])


def test_entry_points_name_a_package(tmp_path, monkeypatch):
    package = tmp_path / "acme_rules"
    add(package / "one")
    (package / "__init__.py").write_text("raise SystemExit('packs are found without being run')\n")
    entries = tmp_path / "acme_rules-1.dist-info"
    entries.mkdir()
    (entries / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1\n")
    (entries / "entry_points.txt").write_text("[npu_migrate.rules]\nacme = acme_rules\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = packs.load()
    assert registry.find("TST001").folder == package / "one"
    assert "acme_rules" not in sys.modules
    (entries / "entry_points.txt").write_text("[npu_migrate.rules]\nacme = acme_gone\n")
    with pytest.raises(packs.PackError, match=r"entry-point: .*acme_gone"):
        packs.load()


CODEMOD = """
from npu_migrate.rule import Rule
class {name}(Rule):
    pass
"""


def test_the_code_of_a_rule(tmp_path):
    """Two packs may both have a folder ``one``."""
    first, second = (packs.read(add(tmp_path / name / "one") / "rule.toml") for name in "ab")
    first.codemod.write_text(CODEMOD.format(name="First"))
    second.codemod.write_text(CODEMOD.format(name="Second"))
    assert packs.load_codemod(first).__name__ == "First"
    assert packs.load_codemod(second).__name__ == "Second"
    assert packs.load_codemod(first) is packs.load_codemod(first)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (None, "codemod-missing"),
        ("x = (", "codemod-broken: .*SyntaxError"),
        ("1 / 0", "codemod-broken: .*ZeroDivisionError"),
        ("from npu_migrate.rule import Rule", "codemod-count: .*count=0"),
        (CODEMOD.format(name="A") + CODEMOD.format(name="B"), "codemod-count: .*count=2"),
    ],
)
def test_code_that_is_no_rule(tmp_path, code, says):
    rule = packs.read(add(tmp_path / "one") / "rule.toml")
    if code is not None:
        rule.codemod.write_text(code)
    with pytest.raises(packs.PackError, match=says) as caught:
        packs.load_codemod(rule)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own: errors come back from worker processes
    assert (again.says, again.facts) == (caught.value.says, caught.value.facts)


def test_shipped_rules_come_first(tmp_path, monkeypatch):
    """As in a wheel; a checkout beside the package is the way of a development install."""
    monkeypatch.setattr(packs, "_HERE", tmp_path / "npu_migrate")
    add(tmp_path / "rules" / "one")
    assert codes(packs.load().all()) == ["TST001"]
    shutil.copytree(tmp_path / "rules", tmp_path / "npu_migrate" / "rules")
    assert packs.load().find("TST001").folder == tmp_path / "npu_migrate" / "rules" / "one"


def test_fixtures_lie_in_the_pack_or_in_the_checkout(tmp_path):
    rule = packs.read(add(tmp_path / "one") / "rule.toml")
    assert rule.fixtures == Path(packs.__file__).resolve().parents[1] / "fixtures" / "one"
    (rule.folder / "fixtures").mkdir()
    assert rule.fixtures == rule.folder / "fixtures"
