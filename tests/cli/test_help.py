"""The help pages, as a person sees them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from npu_migrate.cli import base, main, messages
from npu_migrate.cli.wide import cells
from npu_migrate.wording import gaps

PAGES = {
    "main": [],
    "rules": ["rules"],
    "rules-show": ["rules", "show"],
    "rules-new": ["rules", "new"],
    "rules-test": ["rules", "test"],
    "undo": ["undo"],
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", PAGES)
def test_page(run, page, lang, file_regression):
    result = run(*PAGES[page], "--help", "--lang", lang)
    assert result.exit_code == 0
    assert max(map(cells, result.output.splitlines())) <= base.WIDTH
    file_regression.check(result.output, basename=f"{page}-{lang}", extension=".txt")


def test_language_of_the_locale(run):
    assert "用法" in run("--help", LC_ALL="zh_CN.UTF-8").output
    assert "Usage" in run("--help", LANG="de_DE.UTF-8").output
    assert "Usage" in run("--help", "--lang=en", LC_ALL="zh_CN.UTF-8").output


def test_every_sentence_has_both_languages_and_the_same_facts():
    for section, sentences in messages.table().items():
        for key, words in sentences.items():
            assert words.keys() == {"en", "zh"}, (section, key)
            assert gaps(words["en"]) == gaps(words["zh"]), (section, key)


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from npu_migrate.cli.main import cli\n"
        "try: cli(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('libcst', 'torch', 'rich', 'pathspec', 'yaml') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_listing_rules_loads_neither_libcst_nor_torch():
    code = (
        "import sys; from npu_migrate.cli.main import cli\n"
        "try: cli(['rules', 'list'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('libcst', 'torch') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_every_command_says_what_it_does():
    described = messages.table()["brief"]
    assert {f"migrate-{name}" for name in main.COMMANDS} <= described.keys()


@pytest.mark.parametrize("page", [[], ["ops", "show"], ["rehearse"], ["rules"]])
def test_the_short_name_of_help(run, page):
    assert run(*page, "-h").output == run(*page, "--help").output
