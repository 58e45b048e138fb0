from __future__ import annotations

import re
import string

import pytest

from npu_migrate.patch.messages import messages, sentence
from npu_migrate.patch.model import Code, PatchError


def test_every_code_has_its_words_and_nothing_else_has():
    assert messages().keys() == {code.value for code in Code} | {"others"}


@pytest.mark.parametrize("key", sorted(messages()))
def test_both_languages_mention_the_same_facts(key):
    words = messages()[key]
    assert words.keys() == {"en", "zh"}
    facts = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in words.values()]
    assert facts[0] == facts[1]
    assert facts[0] <= ({"count", "others"} if key == "others" else {"path", "reason"})
    assert re.search("[\u4e00-\u9fff]", words["zh"])
    assert words["en"].isascii()


def test_a_sentence_names_every_path():
    error = PatchError("a {b}.py", Code.CHANGED_SINCE, others=("c.py", "d.py"))
    assert sentence(error).startswith("a {b}.py was edited")
    assert sentence(error).endswith(" (and 2 more: c.py, d.py)")
    assert "c.py, d.py" in sentence(error, "zh")


def test_a_sentence_gives_the_reason():
    error = PatchError("a.py", Code.WRITE_FAILED, reason="No space left on device")
    assert "No space left on device" in sentence(error)
    assert "No space left on device" in sentence(error, "zh")
