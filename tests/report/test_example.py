"""The examples in the documentation are what the tool says today."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from npu_migrate.cli.main import cli

ROOT = Path(__file__).parents[2]
SAMPLE = "fixtures/projects/yolo_mini"


@pytest.mark.parametrize(
    ("tree", "page"), [(SAMPLE, "docs/sample-report.md"), (f"{SAMPLE}/train.py", "docs/sample-report.sarif")]
)
def test_the_report_of_the_sample_is_current(tmp_path, tree, page):
    made = tmp_path / Path(page).name
    done = CliRunner().invoke(cli, [str(ROOT / tree), "--report", str(made), "--lang", "en"])
    assert done.exit_code == 0, done.output
    there = (ROOT / page).read_text(encoding="utf-8")
    assert made.read_text(encoding="utf-8") == there, f"npu-migrate {tree} --report {page} writes it anew"
