"""Markdown for a comment."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from npu_migrate.report import markdown

# What the report writes itself.
OWN = {"details", "summary", "code", "br"}


class Seen(HTMLParser):
    """The elements and attributes of a text, and what stands outside code."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.prose, self.depth = [], [], [], 0

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.depth += tag in {"code", "pre"}

    def handle_endtag(self, tag):
        self.depth -= tag in {"code", "pre"}

    def handle_data(self, data):
        if not self.depth:
            self.prose.append(data)


def seen(text):
    reader = Seen()
    reader.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    return reader


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_from_the_code_becomes_markup(hostile, rules, lang):
    reader = seen(markdown.render(hostile, rules, lang, limit=10**7))
    assert not {"img", "a", "script", "b", "em", "del"} & set(reader.tags)
    assert "onmouseover" not in reader.attributes
    prose = "".join(reader.prose)
    assert not re.search(r"[@#]", prose), re.findall(r".{20}[@#].{20}", prose)
    assert "evil" not in prose


def test_fences_hold(hostile, rules):
    text = markdown.render(hostile, rules, "en", limit=10**7)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert len([one for one in tokens if one.type == "fence"]) == len(hostile.changed)


def test_no_control_or_bidi_character_is_left(hostile, rules):
    text = markdown.render(hostile, rules, "en", limit=10**7)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\udc00-\udfff]", text)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("limit", [3_000, 20_000, markdown.LIMIT])
def test_the_limit_holds_and_says_so(large, rules, lang, limit):
    text = markdown.render(large, rules, lang, limit=limit)
    assert len(text) <= limit
    assert "npu-migrate --report report.html" in text
    assert text.count("<details>") == text.count("</details>")


def test_what_fits_is_whole(real, rules):
    text = markdown.render(real, rules, "en")
    assert "report.html" not in text
    assert text.count("```diff\n") == len(real.changed)
    assert set(seen(text).tags) >= {"details", "summary", "table", "code"}


def test_most_care_first(real, rules):
    order = ["review with care", "skim before merging", "merge as it is"]
    cares = re.findall(rf"; ({'|'.join(order)})\)</summary>", markdown.render(real, rules, "en"))
    assert cares == sorted(cares, key=order.index)
    assert len(cares) == len(real.changed)


@pytest.mark.parametrize(
    ("text", "span"), [("a`b", "``a`b``"), ("`a", "`` `a ``"), ("", ""), ("a|b", r"`a\|b`"), ("``a``", "``` ``a`` ```")]
)
def test_code_spans(text, span):
    assert markdown.code(text) == span
