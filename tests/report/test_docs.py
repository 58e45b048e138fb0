"""The documentation of the reports names what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_migrate.report import effort, github, markdown, sarif, writers

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", ["reports.md", "reports.zh.md"])
def test_every_format_and_no_other(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    asked = "".join(rows)
    assert len(rows) == len(writers.WRITERS)
    for format_, writer in writers.WRITERS.items():
        assert (f"`--format {format_}`" in asked) == writer.stdout
        assert writer.suffix is None or f"`--report r{writer.suffix}`" in asked


@pytest.mark.parametrize("name", ["reports.md", "reports.zh.md"])
def test_limits_and_names(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    assert f"{markdown.LIMIT:,}".replace(",", " ") in text
    assert sarif.FINGERPRINT in text
    assert Path(effort.__file__).name in text
    assert github.MOST["error"] == github.MOST["warning"] == 10


def test_both_languages_have_the_same_parts():
    heads = [
        [line.split(" ")[0] for line in (DOCS / name).read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        for name in ("reports.md", "reports.zh.md")
    ]
    assert heads[0] == heads[1]
