"""The table for spreadsheets."""

from __future__ import annotations

import csv
import io

import pytest
from report_samples import finding, of_one_file

from npu_migrate.model import Status
from npu_migrate.report import csv_report, writers


def rows(report, rules, lang="en"):
    text = writers.encode(csv_report.render(report, rules, lang)).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def test_spreadsheets_know_the_encoding_and_the_lines(real, rules):
    data = writers.encode(csv_report.render(real, rules, "zh"))
    assert data.startswith(b"\xef\xbb\xbf" + "状态,规则".encode())
    assert data.endswith(b"\r\n")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_one_row_a_site(real, rules, lang):
    table = rows(real, rules, lang)
    assert len(table) == len(real.findings) + 1
    assert {len(row) for row in table} == {len(csv_report.COLUMNS)}
    first = dict(zip(csv_report.COLUMNS, table[1]))
    one = real.findings[0]
    assert (first["rule"], first["file"], first["line"]) == (one.rule, one.path, str(one.span.line))
    assert first["message"] == rules.message(one.text, lang)


def test_no_cell_is_a_formula_whatever_the_code_says(hostile, rules):
    table = rows(hostile, rules)
    assert len(table) == len(hostile.findings) + 1
    for row in table[1:]:
        for cell in row:
            assert not cell.lstrip().startswith(("=", "+", "-", "@")), cell
            assert not any(char in cell for char in "\0\x1b\r\t\x07"), cell


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "\uff1d1", "\uff201"])
def test_formulas_become_text(rules, text):
    (row,) = rows(of_one_file(finding("a.py", 1, Status.MANUAL, text)), rules)[1:]
    assert row[csv_report.COLUMNS.index("before")].startswith("'")
