"""The example in the documentation is what the tool says today."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from npu_migrate.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "sample-report.md"


def test_the_markdown_of_the_sample_is_current(tmp_path):
    made = tmp_path / "report.md"
    tree = ROOT / "fixtures" / "projects" / "yolo_mini"
    done = CliRunner().invoke(cli, [str(tree), "--report", str(made)])
    assert done.exit_code == 0, done.output
    assert made.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), (
        f"npu-migrate {tree.relative_to(ROOT)} --report {PAGE.relative_to(ROOT)} writes it anew"
    )
