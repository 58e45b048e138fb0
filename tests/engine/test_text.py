from __future__ import annotations

import ast
import codecs

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from npu_migrate.engine.text import SourceText, cookie

COOKIES = [
    "utf-8",
    "gbk",
    "gb18030",
    "latin-1",
    "cp1252",
    "shift_jis",
    "euc-kr",
    "iso2022_jp",
    "utf-7",
    "unicode_escape",
]
COOKIES += ["rot13", "no-such-codec", "utf8-unix", "cp500", "big5hkscs", "raw_unicode_escape", "punycode", "hz"]
NOT_ASCII_BASED = {"cp500", "utf-7", "iso2022_jp", "hz", "punycode"}
FRAGMENTS = [
    b"x = 1",
    b"\n",
    b"\r\n",
    b"\r",
    b"\x0c",
    b"\t",
    b"\\",
    b"'",
    b"\xc4\xe3\xba\xc3",
    "你好".encode(),
    b"\xe9",
    b"\x85",
]

PIECES = ["name", "'你好 {}'", "(é, name)", "[name,\n 1]", "'''\r\n\x0c名'''", "f(  # 注\r name)", "x\\\n+name"]

raw = st.one_of(
    st.binary(max_size=60),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(b"".join),
    st.text(max_size=40).map(str.encode),
)
heads = st.sampled_from([b"", codecs.BOM_UTF8, *(f"# -*- coding: {name} -*-\n".encode() for name in COOKIES)])


@settings(max_examples=600)
@given(heads, raw)
@example(codecs.BOM_UTF8, b"\xff\xfe")
@example(b"# coding: utf-7\n", b"+2AA-")
def test_every_byte_comes_back(head, body):
    data = head + body
    source = SourceText.decode(data)
    assert source.encode() == data
    source.text.encode()  # ast.parse encodes its input: no lone surrogate may be in it


@settings(max_examples=300)
@given(heads, raw, raw)
def test_an_ascii_edit_changes_no_other_byte(head, before, after):
    data = head + before + b"torch.cuda" + after
    source = SourceText.decode(data)
    place = source.text.find("torch.cuda")
    assume(place >= 0 and source.encoding not in NOT_ASCII_BASED)
    edited = source.text[:place] + "torch.npu" + source.text[place + len("torch.cuda") :]
    cut = len(source.text[:place].encode(source.encoding)) + len(source.bom)
    assert source.encode(edited) == data[:cut] + b"torch.npu" + data[cut + len(b"torch.cuda") :]


@settings(max_examples=300)
@given(st.text(alphabet="ab é你😀\t\x0c\x85\u2028\n\r", max_size=40))
def test_positions_and_offsets_are_each_others_reverse(text):
    source = SourceText(text)
    for offset in range(len(text) + 1):
        assert source.offset(*source.position(offset)) == offset
    assert "".join(source.line(number) for number in range(1, len(source.line_starts) + 1)) == text


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_offsets_agree_with_the_parser(newline):
    lines = [
        "alpha = 'é'; beta",
        "x = [  # 你 \x85 \u2028",
        "\x0cgamma, '你', delta]",
        "if 1:",
        "\tt = '''",
        "é''', zeta",
        "\x0cend = '😀' + last",
    ]
    text = newline.join(lines)
    source = SourceText.decode(text.encode())
    names = [node for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.Name)]
    assert {node.id for node in names} == {"alpha", "beta", "x", "gamma", "delta", "t", "zeta", "end", "last"}
    for node in names:
        start = source.offset(node.lineno, node.col_offset)
        end = source.offset(node.end_lineno, node.end_col_offset)
        assert source.text[start:end] == node.id
        assert source.position(start) == (node.lineno, node.col_offset)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["\n", "\r\n", "\r", "; "])), min_size=1))
def test_names_in_any_program_are_where_the_parser_says(statements):
    text = "".join(piece + end for piece, end in statements) + "name"
    source = SourceText(text)
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    assert names
    for node in names:
        assert source.text.startswith(node.id, source.offset(node.lineno, node.col_offset))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"# -*- coding: gbk -*-\nx", "gbk"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n", "cp1252"),
        (b"#!/usr/bin/python\r# coding=cp1252\r", "cp1252"),
        (b"# -*- coding: UTF8_mac -*-", "UTF8_mac"),
        (b"# coding: utf-8-unix", "utf-8"),
        (b"# coding: Latin_1", "latin-1"),
        (b"\x0c# coding: gbk", "gbk"),
        (b"x = 1\n# coding: gbk\n", None),
        (b"\n\n# coding: gbk\n", None),
        (b"x = 1  # coding: gbk\n", None),
        (b"", None),
    ],
)
def test_the_cookie_is_read_as_python_reads_it(data, expected):
    assert cookie(data) == expected


def test_a_gbk_comment_without_cookie_is_guessed_and_parses():
    data = "import torch  # 把模型放到显卡上\r\nx = torch.cuda\r\n".encode("gbk")
    source = SourceText.decode(data)
    assert source.encoding_guessed
    assert "把模型放到显卡上" in source.text
    assert isinstance(ast.parse(source.text).body[1], ast.Assign)
    assert source.encode(source.text.replace("torch.cuda", "torch.npu")) == data.replace(b"torch.cuda", b"torch.npu")


def test_a_guess_never_swallows_a_quote():
    # In GBK the byte E9 takes the following letter or brace with it.
    source = SourceText.decode(b"s = f'caf\xe9{x}'  # na\xefve\n")
    assert source.encoding == "latin-1"
    assert source.text == "s = f'caf\xe9{x}'  # na\xefve\n"
    assert ast.parse(source.text)


def test_a_bom_is_kept_and_not_part_of_the_text():
    source = SourceText.decode(codecs.BOM_UTF8 + b"# coding: utf-8\nx = 1")
    assert source.text.startswith("# coding")
    assert not source.encoding_guessed
    assert source.encode("y") == codecs.BOM_UTF8 + b"y"


def test_other_files_have_no_cookie():
    data = b"# coding: cp1252\nname: \xe4\xbd\xa0\n"
    assert SourceText.decode(data).encoding == "cp1252"
    assert SourceText.decode(data, python=False).encoding == "utf-8"


@pytest.mark.parametrize(
    ("text", "offset", "newline"),
    [
        ("a\r\nb\nc", 0, "\r\n"),
        ("a\r\nb\nc", 3, "\n"),
        ("a\r\nb\nc", 5, "\n"),
        ("a\r\nb\rc", 6, "\r"),
        ("a\r\n", 3, "\r\n"),
        ("a\r\n", 1, "\r\n"),
        ("a", 1, "\n"),
        ("", 0, "\n"),
    ],
)
def test_newline_at(text, offset, newline):
    assert SourceText(text).newline_at(offset) == newline


def test_the_usual_newline_is_the_most_frequent():
    assert SourceText("a\nb\r\nc\r\n").newline == "\r\n"


def test_spans_count_characters_from_one():
    source = SourceText("x = 1\r\n你 = torch.cuda\r\n")
    start = source.text.index("torch")
    span = source.span(start, start + len("torch.cuda"))
    assert (span.line, span.column, span.end_line, span.end_column) == (2, 5, 2, 15)
