"""The HTML page as text: what a browser is given."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from report_samples import HOSTILE, finding, of_one_file

from npu_migrate.model import Status
from npu_migrate.report import html, writers
from npu_migrate.report.html.code import Colours
from npu_migrate.report.html.tags import Markup, each, tag
from npu_migrate.wording import LANGUAGES

VOID = {"meta", "link", "input", "rect", "circle"}
LOADING = {"src", "srcset", "poster", "action", "formaction", "data", "background", "cite", "ping", "xlink:href"}


class Page(HTMLParser):
    """Elements, attributes and texts; complains about what is not nested well."""

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.tags, self.scripts, self.labels = [], [], [], [], 0
        self.ids, self.hrefs, self.styles = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        self.hrefs += [value for name, value in attrs if name == "href"]
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        if self.open and self.open[-1] == "style":
            self.styles.append(data)


def written(report, rules, lang="en"):
    return writers.encode(html.render(report, rules, lang)).decode()


@pytest.fixture(scope="module")
def pages(hostile, real, rules):
    return {"hostile": Page(written(hostile, rules)), "real": Page(written(real, rules, "zh"))}


@pytest.mark.parametrize("name", ["real", "hostile"])
def test_nothing_is_loaded(pages, name):
    page = pages[name]
    assert not [one for one in page.attributes if one[1] in LOADING]
    assert not [one for one in page.attributes if one[1].startswith("on") or one[1] == "style"]
    assert all(href.startswith("#") or href == "data:," for href in page.hrefs)
    assert not re.search(r"url\(|@import|https?:", "".join(page.styles))
    assert page.tags.count("script") == 2


@pytest.mark.parametrize("name", ["real", "hostile"])
def test_the_policy_allows_this_script_only(pages, name):
    (policy,) = [value for _, _, value in pages[name].attributes if str(value).startswith("default-src")]
    digest = base64.b64encode(hashlib.sha256(pages[name].scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


@pytest.mark.parametrize("name", ["real", "hostile"])
def test_links_lead_somewhere(pages, name):
    page = pages[name]
    assert len(page.ids) == len(set(page.ids))
    inside = {href[1:] for href in page.hrefs if href.startswith("#") and not href.startswith("#site-")}
    assert inside <= set(page.ids)


def test_the_data_cannot_end_its_script(pages):
    text = pages["hostile"].scripts[0]
    assert not set("<>&\u2028\u2029") & set(text)
    document = json.loads(text)
    assert any("</script><script>alert(1)</script>" in path for path in document["files"])
    assert len(document["sites"]) == len(HOSTILE) * len(Status)


def test_nothing_can_reorder_or_hide_text(hostile, rules):
    text = written(hostile, rules)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069]", text)
    assert "\\u202e" in text


def test_both_languages_are_there(real, rules):
    for lang in LANGUAGES:
        text = written(real, rules, lang)
        assert f'data-lang="{lang}"' in text
        assert "存在阻碍" in text
        assert "Blocked: " in text
    english, chinese = (written(real, rules, lang) for lang in LANGUAGES)
    assert english.partition("<style>")[2].count("改为") == chinese.partition("<style>")[2].count("改为")


def test_the_same_run_gives_the_same_bytes(real, rules):
    assert written(real, rules) == written(real, rules)


def test_ten_thousand_sites_are_quick_and_small(large, rules):
    start = time.process_time()
    size = len(written(large, rules))
    assert time.process_time() - start < 5
    assert size < 4_000_000


def test_an_empty_report_is_a_page(rules):
    page = Page(written(of_one_file(), rules))
    assert page.tags.count("h1") == 1


def test_a_release_that_nobody_knows(rules):
    report = of_one_file(finding("a.py", 1, Status.MANUAL))
    text = written(replace(report, aim=replace(report.aim, torch_npu="99.0")), rules)
    assert "Nothing is known about torch_npu 99.0." in text


def test_text_is_escaped_and_markup_is_not():
    assert tag("p", "<b>&", tag("i", "x"), title='"<') == '<p title="&quot;&lt;">&lt;b&gt;&amp;<i>x</i></p>'
    assert tag("rect", x=0, y=None, hidden=True) == '<rect x="0" hidden/>'
    assert each("same", "same") == "same"
    assert isinstance(each("a", "b"), Markup)


def diffs(old, new, budget=10_000):
    report = of_one_file(finding("a.py", 1, Status.REWRITTEN), old=old.encode(), new=new.encode())
    return Colours(budget).hunks(report.files[0])


def test_changed_lines_stand_beside_each_other():
    old = "import os\nfrom torch.cuda import amp\n"
    (hunk,) = diffs(old, "import os\nimport torch_npu\nfrom torch_npu.npu import amp\n")
    assert [row[::2] for row in hunk["rows"]] == [
        ["import os"],
        [None, "import torch_npu"],
        ["from torch.cuda import amp", "from torch_npu.npu import amp"],
    ]


def test_hunks_count_lines_of_both_sides():
    lines = [f"x{number} = 1" for number in range(40)]
    new = ["first", *lines[:30], "x.npu()", *lines[31:]]
    found = diffs("\n".join(lines), "\n".join(new))
    assert [(hunk["old"], hunk["new"]) for hunk in found] == [(1, 1), (28, 29)]


@pytest.mark.parametrize("quote", ['"""', "'''"])
def test_a_hunk_inside_a_string_is_a_string(quote):
    body = [f"line {number} for import if" for number in range(20)]
    old = "\n".join([f"x = {quote}", *body, quote, "y = 'z'"])
    (hunk,) = diffs(old, old.replace("line 15", "cuda 15"))
    colours = {letter for row in hunk["rows"] for letter in re.findall("[a-z_]", row[1])}
    assert colours == {"s"}


def test_colours_cover_their_line():
    (hunk,) = diffs("def f(x):\n    return 'ä' + x.cuda()  # no\n", "def f(x):\n    return 'ä' + x.npu()  # no\n")
    for row in hunk["rows"]:
        for text, colours in zip(row[::2], row[1::2]):
            assert sum(map(int, re.findall(r"\d+", colours))) == len(text)
    assert hunk["rows"][0][1].startswith("k3_1f1")


def test_no_colours_beyond_the_budget():
    (hunk,) = diffs("a = 1\n", "a = 2\n", budget=3)
    assert hunk["rows"] == [["a = 1", "", "a = 2", ""]]
