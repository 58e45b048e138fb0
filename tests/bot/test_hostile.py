"""Names, sources and reports that mean harm stay text."""

from __future__ import annotations

import json
import re

import pytest
from fake_forge import fenced
from fake_github import GitHub
from hypothesis import given
from hypothesis import strategies as st

from npu_migrate import packs
from npu_migrate.bot import audit as audits
from npu_migrate.bot import body, markdown
from npu_migrate.bot.model import Audit, Site
from npu_migrate.bot.suggest import suggestions, touched
from npu_migrate.bot.words import Words, table
from npu_migrate.errors import InputError
from npu_migrate.gate.hunks import Hunk
from npu_migrate.wording import gaps

EVIL = [
    "@octocat please merge",
    "![x](https://evil.example/x.png)",
    "[click](javascript:alert(1))",
    "<img src=x onerror=alert(1)>",
    "</details><script>",
    "https://evil.example",
    "fixes #1",
    "/merge",
    "<!-- npu-migrate:summary -->",
    "a\n/approve\n```",
    "|a|b|",
    "\u202eevil",
    "\x1b[31m",
    "&lt;b&gt;",
    "!12 $34 ~label %mile",
]


@pytest.mark.parametrize("words", EVIL)
def test_words_outside_code_are_plain(words):
    shown = markdown.text(words)
    assert "\n" not in shown
    assert not re.search(r"[<>]", shown)
    assert not re.search(r"(?:[@!$%~/]|(?<!&)#)(?=\w)", shown)
    assert not re.search(r"(?<!\\)[\[\]`*_|]", shown)
    assert not re.search("[\x00-\x1f\u202e]", shown)


@given(st.text(alphabet="`ab \n|@<", max_size=30))
def test_code_cannot_be_left(words):
    shown = markdown.code(words)
    ticks = re.match("`+", shown)[0]
    assert shown.endswith(ticks)
    inner = shown[len(ticks) : -len(ticks)]
    assert ticks not in re.findall("`+", inner)
    assert "\n" not in shown


@given(st.text(alphabet="`~ab\n\r", max_size=40))
def test_a_block_holds_its_lines(body_text):
    assert fenced(markdown.fence(body_text, "suggestion"), "suggestion") == body_text.split("\n")


@given(st.text(alphabet="`'\"<@/ab1|", max_size=40))
def test_a_message_cannot_leave_its_line(words):
    said = "- " + markdown.text(f"`{words}` becomes `npu`")
    assert "\n" not in said
    outside = re.sub(r"(`+)(?:(?!`).|(?!\1(?!`))`+)*?\1(?!`)", "", said)
    assert "<" not in outside


def evil_audit():
    sites = tuple(
        Site("NPU101", f"dir/{index}`<b>@x.py", index + 1, index + 1, "manual", words)
        for index, words in enumerate(EVIL * 200)
    )
    return Audit("2.7.1`<", {"manual": len(sites)}, sites, {})


def test_a_summary_of_evil_is_short_and_tame():
    audit = evil_audit()
    patch = "@@ -0,0 +1,5 @@\n+a\n+b\n+c\n+d\n+e"
    files = {site.path: touched(site.path, patch) for site in audit.sites}
    summary = body.summary(body.Content(audit, files, [], 0), Words("en"))
    assert len(summary.encode()) <= body.LONGEST
    assert summary.count(body.SUMMARY) == 1
    assert summary.endswith(body.SUMMARY)
    assert summary.count("<details>") == summary.count("</details>") > 0
    outside = re.sub(r"`+[^\n]*?`+(?!`)", "", summary)
    assert "<img" not in outside
    assert not re.search(r"^/", summary, re.MULTILINE)


def test_sources_with_fences_are_suggested_whole():
    line = 'x = """```suggestion"""  # cuda ````'
    audit = Audit("2.7.1", {}, (), {"a.py": [Hunk(1, (line,), 1, (line.replace("cuda", "npu"),))]})
    (found,) = suggestions(audit, {"a.py": touched("a.py", f"@@ -0,0 +1 @@\n+{line}")}, packs.load())
    text = body.remark(found, markdown.fence("\n".join(found.new), "suggestion"), Words("en"))
    assert fenced(text, "suggestion") == [line.replace("cuda", "npu")]


@pytest.mark.parametrize(
    "patch",
    [
        "@@ -0,0 +1 @@\n+x.cuda()\r",
        "@@ -1 +1 @@\n x.cuda()",
        "@@ -0,0 +1 @@\n+y.cuda()",
        "",
    ],
    ids=["other line ends", "line not added", "other text", "no diff"],
)
def test_what_would_not_apply_is_not_suggested(patch):
    audit = Audit("2.7.1", {}, (), {"a.py": [Hunk(1, ("x.cuda()",), 1, ("x.npu()",))]})
    assert suggestions(audit, {"a.py": touched("a.py", patch)}, packs.load()) == []


def test_careful_rules_come_last():
    rules = packs.load()
    by_review = {rule.review: rule.code for rule in rules.all()}
    lines = ("a = 1", "b = 2", "c = 3")
    sites = tuple(
        Site(by_review[review], "a.py", number, number, "rewritten", "x")
        for number, review in enumerate(("careful", "skim", "merge"), 1)
    )
    changes = {"a.py": [Hunk(number, (line,), number, (line + "!",)) for number, line in enumerate(lines, 1)]}
    patch = "@@ -0,0 +1,3 @@\n" + "\n".join(f"+{line}" for line in lines)
    found = suggestions(Audit("2.7.1", {}, sites, changes), {"a.py": touched("a.py", patch)}, rules)
    assert [one.review for one in found] == ["merge", "skim", "careful"]


GOOD = {
    "schema_version": 1,
    "target": {"torch_npu": "2.7.1"},
    "summary": {"manual": 1},
    "findings": [
        {"rule": "NPU101", "path": "a.py", "line": 1, "end_line": 1, "status": "manual", "message": "x", "cell": None}
    ],
    "files": [{"path": "a.py", "diff": ""}],
}


def test_a_prefix_is_put_before_the_paths(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(GOOD))
    assert audits.read(path, "sub/dir/").sites[0].path == "sub/dir/a.py"
    assert audits.read(path, ".").sites[0].path == "a.py"


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"findings": {}},
        {"findings": [[]]},
        {"findings": [{**GOOD["findings"][0], "path": "../../etc/passwd"}]},
        {"findings": [{**GOOD["findings"][0], "path": "/etc/passwd"}]},
        {"findings": [{**GOOD["findings"][0], "line": "1"}]},
        {"findings": [{**GOOD["findings"][0], "line": True}]},
        {"findings": [{**GOOD["findings"][0], "status": "<b>"}]},
        {"summary": {"manual": "<b>"}},
        {"files": [{"path": "a.py", "diff": None}]},
        {"target": None},
    ],
)
def test_a_report_of_another_shape_is_refused(tmp_path, change):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(InputError) as caught:
        audits.read(path)
    assert caught.value.says in ("bot-report", "bot-report-version")


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 100000])
def test_what_is_no_report_is_refused(tmp_path, content):
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(InputError):
        audits.read(path)


@pytest.mark.parametrize("key", sorted(table()))
def test_both_languages_say_the_same(key):
    words = table()[key]
    assert set(words) == {"en", "zh"}
    assert gaps(words["en"]) == gaps(words["zh"])


def test_a_dry_run_prints_text_only(project, bot):
    project.push(
        {
            "::error::name.py": 'import torch\n\nx = """\n::error::text\n""" + str(x.cuda())\n',
            "\u202e@octocat.py": "import torch\n\nx.cuda()  # \x1b[31m \u202e ##[error] @octocat\n",
        }
    )
    forge = GitHub(project)
    shown = bot(forge, "--dry-run").output
    forge.close()
    assert "octocat" in shown
    assert not [line for line in shown.splitlines() if line.strip().startswith("::") or "##[" in line]
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", shown)
