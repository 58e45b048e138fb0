"""What a report says at its top, and the names that sites keep."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_samples import AIM, finding

from npu_migrate import packs
from npu_migrate.model import FileResult, Status
from npu_migrate.report import effort, model
from npu_migrate.report.fingerprints import fingerprints
from npu_migrate.report.places import prefix, uri
from npu_migrate.report.verdict import kinds, verdict
from npu_migrate.report.words import Part, family, parts, say, split, table
from npu_migrate.wording import gaps


def report(*statuses, text="x = y.cuda()\n"):
    found = tuple(finding("a.py", 1, status, "cuda") for status in statuses)
    return model.build([FileResult("a.py", "python", found, text.encode(), b"")], AIM, Path("/nowhere/t"), "dry-run")


@pytest.mark.parametrize(
    ("statuses", "level", "percent"),
    [
        ([], "none", 100),
        ([Status.KEPT, Status.ADVICE, Status.SUPPRESSED], "none", 100),
        ([Status.REWRITTEN, Status.KEPT], "done", 100),
        ([Status.REWRITTEN] * 999 + [Status.MANUAL], "decide", 99),
        ([Status.REWRITTEN, Status.MANUAL, Status.UNSUPPORTED], "blocked", 33),
        ([Status.REWRITTEN, Status.UNSUPPORTED, Status.UNREADABLE], "unread", 33),
    ],
)
def test_level_and_share(statuses, level, percent):
    judged = verdict(report(*statuses))
    assert (judged.level, judged.percent) == (level, percent)


def test_sites_that_are_told_the_same_are_one_kind():
    found = [
        finding("a.py", 1, Status.MANUAL, name="a", new="b"),
        finding("b.py", 2, Status.MANUAL, name="c", new="d"),
        finding("b.py", 3, Status.MANUAL, name="c", new="d"),
    ]
    one = model.build([FileResult("a.py", "python", tuple(found))], AIM, Path("/nowhere/t"), "dry-run")
    assert [len(kind.sites) for kind in kinds(one, Status.MANUAL)] == [2, 1]


def test_the_estimate_is_the_sum_of_what_it_shows():
    found = effort.steps(report(*[Status.REWRITTEN] * 10, *[Status.UNSUPPORTED] * 3), packs.load())
    counts = [(step.name, step.count) for step in found]
    assert counts == [("merge", 10), ("unsupported-first", 1), ("unsupported-again", 2)]
    assert effort.headline(found, "en") == "Estimated work left: 2 h to 2 working days"
    assert effort.headline([], "zh") == say("zh", "effort.nothing")


def test_a_rule_that_is_gone_is_reviewed_with_care():
    assert [step.name for step in effort.steps(report(Status.REWRITTEN), packs.Registry([]))] == ["careful"]


@pytest.mark.parametrize(
    ("minutes", "words"), [(0.2, "1 min"), (89, "89 min"), (90, "2 h"), (959, "16 h"), (960, "2 working days")]
)
def test_durations(minutes, words):
    assert effort.duration(minutes, "en") == words


def lines(text, *sites):
    found = tuple(finding("a.py", line, Status.MANUAL, "cuda") for line in sites)
    return model.build([FileResult("a.py", "python", found, text.encode(), b"-")], AIM, Path("/nowhere/t"), "dry-run")


def test_fingerprints_survive_moved_lines_and_new_indentation():
    before = fingerprints(lines("x.cuda()\ny.cuda()\n", 1, 2))
    after = fingerprints(lines("import a\n\nif a:\n    y.cuda()\n\tx.cuda()  \n", 4, 5))
    assert before == after[::-1]


def test_fingerprints_tell_repeats_and_other_code_apart():
    found = fingerprints(lines("x.cuda()\nx.cuda()\nz.cuda()\n", 1, 2, 3))
    assert len(set(found)) == 3
    assert [one.partition(":")[2] for one in found] == ["0", "1", "0"]


def test_places_in_a_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "src" / "deep"
    inside.mkdir(parents=True)
    one = model.build([], AIM, inside, "dry-run")
    assert prefix(one) == "src/deep/"
    assert prefix(model.build([], AIM, tmp_path, "dry-run")) == ""
    assert uri("a b/c:d%.py") == "a%20b/c%3Ad%25.py"
    assert uri("bad\udcff") == "bad%FF"


def test_only_back_ticks_of_the_rule_make_code(hostile, rules):
    for one in hostile.findings:
        told = parts(rules, one.text, "en")
        fact = one.text.facts[0][1]
        assert [part.code for part in told] == [True, False, True], fact
        assert told[1].text == " becomes "
    assert split("a `b` c") == [Part("a "), Part("b", code=True), Part(" c")]


def test_every_sentence_has_both_languages_and_the_same_facts():
    for section, sentences in table().items():
        for key, words in sentences.items():
            assert words.keys() == {"en", "zh"}, (section, key)
            assert gaps(words["en"]) == gaps(words["zh"]), (section, key)


def test_topics_cover_every_built_in_rule(rules):
    assert all(family(rule.code, lang) != f"{rule.code[:-2]}xx" for rule in rules.all() for lang in ("en", "zh"))
    assert family("ACME1234", "en") == "ACME12xx"
