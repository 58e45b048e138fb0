"""What a terminal gets: its width, its colours, and nothing that it could obey."""

from __future__ import annotations

import dataclasses
import io
import re
from pathlib import Path

import pytest
from cli_samples import PACK, notes, site, train
from rich.console import Console

from npu_migrate import packs
from npu_migrate.cli.messages import Messages
from npu_migrate.cli.render import Meter, Screen
from npu_migrate.cli.wide import cells, wrap
from npu_migrate.model import FileResult, Status
from npu_migrate.plain import plain
from npu_migrate.report import model

AIM = model.Aim("2.7.1.post11", "2.7.1", "8.3.RC1", "npu", "exact")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def rules():
    return packs.Registry(map(packs.read, packs.rule_files(PACK)))


def report(*files, root=Path("detector")):
    return model.build(files, AIM, root, "dry-run")


def terminal(lang="en", width=80, **options):
    out = Console(
        file=io.StringIO(), width=width, force_terminal=True, markup=False, emoji=False, highlight=False, **options
    )
    return Screen(Messages(lang), out, out)


def shown(screen):
    return screen.out.file.getvalue()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_summary_fits_a_terminal_of_80_columns(rules, lang, file_regression):
    screen = terminal(lang)
    screen.report(report(train(), notes()), rules, verbose=True)
    text = COLOUR.sub("", shown(screen))
    assert "\x1b" not in text
    assert max(map(cells, text.splitlines())) <= 80
    file_regression.check("\n".join(line.rstrip() for line in text.splitlines()), basename=lang, extension=".txt")


def test_colour_only_where_it_is_wanted(rules, monkeypatch):
    coloured = terminal()
    coloured.report(report(train()), rules, verbose=False)
    assert "\x1b[32m" in shown(coloured)
    monkeypatch.setenv("NO_COLOR", "1")
    sober = terminal()
    sober.report(report(train()), rules, verbose=False)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", shown(sober))


def test_diff_in_colour():
    screen = terminal()
    screen.diff(report(train()))
    assert "\x1b[31m-model = Net().cuda()\x1b[0m\n\x1b[32m+model = Net().npu()\x1b[0m" in shown(screen)


def test_a_removed_line_that_looks_like_a_header():
    file = FileResult("a.sql", "python", (), b"-- x\n", b"++ x\n")
    screen = terminal()
    screen.diff(report(file))
    assert "\x1b[31m--- x\x1b[0m\n\x1b[32m+++ x" in shown(screen)


HOSTILE = "a\x1b]0;owned\x07\x9b2J\u202e\u2028\udc9b[red]:smile:\r\n{name}"


def test_text_of_the_tree_cannot_act_on_the_terminal(rules):
    finding = dataclasses.replace(
        site((1, 1), Status.MANUAL, "why", path=HOSTILE, name=HOSTILE), before=HOSTILE, symbol=HOSTILE
    )
    other = FileResult("b" + HOSTILE, "python", (), HOSTILE.encode("utf-8", "surrogateescape"), b"x = 1\n")
    screen = terminal(no_color=True)
    evil = report(FileResult(HOSTILE, "python", (finding,)), other, root=Path("x" + HOSTILE))
    screen.report(evil, rules, [HOSTILE], verbose=True)
    screen.diff(evil)
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown(screen))
    assert not [char for char in text if char != "\n" and not char.isprintable()]
    assert "[red]:smile:" in text
    assert "\\x1b]0;owned\\x07\\x9b2J\\u202e\\u2028" in text.replace("\n", "")


@pytest.mark.parametrize(
    ("text", "safe"),
    [("naïve 中文 🙂", "naïve 中文 🙂"), ("a\tb", "a    b"), ("\ufeffx", "\\ufeffx"), ("\U000e0041", "\\U000e0041")],
)
def test_plain(text, safe):
    assert plain(text) == safe


def test_wrapping_counts_cells_and_keeps_punctuation_with_its_word():
    text = "把 PyTorch 程序从 CUDA 迁移到昇腾（NPU），并说明原因。"  # noqa: RUF001 - Chinese punctuation is what this is about
    lines = list(wrap(text, 12))
    assert all(cells(line) <= 14 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert not [line for line in lines if line[0] in "，。）"]  # noqa: RUF001 - see above


def test_wrapping_keeps_the_first_indent_only():
    assert list(wrap("    if a and b:", 12)) == ["    if a and", "b:"]
    assert list(wrap("", 12)) == [""]


def test_short_runs_show_no_progress_and_long_ones_do(monkeypatch):
    clock = iter([0.0, 0.2, 5.0, 5.0, 5.0])
    monkeypatch.setattr("npu_migrate.cli.render.time.monotonic", lambda: next(clock))
    err = terminal().err
    with Meter(err, "Reading detector", silent=False) as meter:
        meter(0, 10, "a.py")
        assert err.file.getvalue() == ""
        meter(5, 10, "b.py")
    assert "5/10" in err.file.getvalue()


def test_progress_stays_out_of_pipes():
    err = Console(file=io.StringIO())
    with Meter(err, "Reading detector", silent=False) as meter:
        meter._start -= 10
        meter(5, 10, "b.py")
    assert err.file.getvalue() == ""


def test_many_files_are_cut_and_listed_with_verbose(rules):
    files = [
        FileResult(
            f"f{number:02}.py", "python", (site((1, 1), Status.MANUAL, "why", path=f"f{number:02}.py", name="x"),)
        )
        for number in range(20)
    ]
    short, long = terminal(), terminal()
    short.report(report(*files), rules, verbose=False)
    long.report(report(*files), rules, verbose=True)
    assert "and 5 more" in shown(short)
    assert "more" not in shown(long).split("Manual")[0]


@pytest.mark.parametrize("name", ["::stop-commands::x.py", "::error::x/a.py", "a/##[error]b.py", "\n::error::x.py"])
def test_file_names_are_no_commands_to_a_ci_job(rules, name):
    screen = terminal()
    screen.report(
        report(FileResult(name, "python", (site((1, 1), Status.MANUAL, "why", path=name, name=name),))),
        rules,
        verbose=False,
    )
    lines = COLOUR.sub("", shown(screen)).splitlines()
    assert any("stop-commands" in line or "error" in line for line in lines)
    # A job reads a command wherever a line begins with two colons, and one of the old kind anywhere.
    assert not [line for line in lines if line.strip().startswith("::") or "##[" in line]
