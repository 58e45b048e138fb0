"""The main job: what it prints, writes and answers."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from cli_samples import MOVED, TRAIN, notes, train

from npu_migrate.model import FileResult, Finding, Span, Status, Text


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("extra", ["", "-v"])
def test_summary(migrate, tree, lang, extra, file_regression):
    result = migrate(tree, "--lang", lang, *filter(None, [extra]))
    assert result.exit_code == 0
    assert result.stderr == ""
    text = "\n".join(line.rstrip() for line in result.stdout.splitlines()) + "\n"
    file_regression.check(text, basename=f"summary{extra}-{lang}", extension=".txt")


def test_a_dry_run_changes_nothing(migrate, tree):
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    migrate(tree, "--diff")
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before


def test_apply_writes_and_undo_restores(migrate, run, tree):
    done = migrate(tree, "--apply")
    assert done.exit_code == 0
    assert (tree / "train.py").read_bytes() == MOVED
    undo = next(line for line in done.stdout.splitlines() if "npu-migrate undo" in line)
    assert str(tree.name) in undo
    assert run("undo", tree).output == "Files restored: 1.\n"
    assert (tree / "train.py").read_bytes() == TRAIN


def test_undo_without_a_run(run, tmp_path):
    result = run("undo", tmp_path)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_output_leaves_the_source_alone(migrate, tree, tmp_path):
    assert migrate(tree, "-o", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "train.py").read_bytes() == MOVED
    assert (tree / "train.py").read_bytes() == TRAIN


def test_output_of_a_single_file_is_that_file(migrate, tree, tmp_path):
    migrate(tree / "train.py", "-o", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["train.py"]


def test_the_diff_of_a_pipe_is_one_that_git_applies(migrate, tree):
    diff = migrate(tree, "--diff").stdout
    git = shutil.which("git")
    assert git
    subprocess.run([git, "apply", "-"], input=diff.encode(), cwd=tree, check=True)
    assert (tree / "train.py").read_bytes() == MOVED


def test_quiet_says_nothing(migrate, tree):
    result = migrate(tree, "-q")
    assert (result.stdout, result.stderr) == ("", "")


def test_json_alone_on_standard_output(migrate, tree, tmp_path):
    report = tmp_path / "r.json"
    result = migrate(tree, "--format", "json", "--diff", "--report", report)
    document = json.loads(result.stdout)
    assert document["mode"] == "dry-run"
    assert document["summary"]["manual"] == 1
    assert "+model = Net().npu()" in result.stderr
    assert report.read_text(encoding="utf-8") == result.stdout
    assert document == json.loads(migrate(tree, "--format", "json", "--lang", "en").stdout)


def test_report_follows_the_mode(migrate, tree, tmp_path):
    migrate(tree, "--apply", "--report", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["mode"] == "apply"


@pytest.mark.parametrize(
    ("results", "code"),
    [([train()], 1), ([notes()], 0), ([], 0)],
    ids=["rewritten or open", "advice and kept", "nothing"],
)
def test_check(migrate, engine, tree, results, code):
    engine.results[:] = results or [FileResult("empty.py", "python")]
    assert migrate(tree, "--check").exit_code == code
    assert migrate(tree).exit_code == 0


def unreadable():
    text = Text("NPU000", "unreadable", (("reason", "Permission denied"),))
    return FileResult("x.py", "python", (Finding("NPU000", "x.py", Span(1, 1, 1, 1), Status.UNREADABLE, text),))


def test_an_unreadable_file_is_status_3_unless_check_finds_something(migrate, engine, tree):
    engine.results[:] = [unreadable()]
    assert migrate(tree).exit_code == 3
    assert migrate(tree, "--check").exit_code == 3
    engine.results[:] = [unreadable(), train()]
    assert migrate(tree, "--check").exit_code == 1


def test_options_reach_the_engine(migrate, engine, tree):
    migrate(tree, "--select", "TST101, TST102", "--select", "NPU1", "--ignore", "moved-call", "--safety", "numerics")
    (settings,) = engine.calls
    assert settings.select == ("TST101", "TST102", "NPU1")
    assert settings.ignore == ("moved-call",)
    assert settings.safety.value == "numerics"
    assert settings.registry.find("TST101")
    assert settings.target.torch == "2.7.1"


def test_settings_of_the_tree_stand_under_the_command_line(migrate, engine, tree):
    (tree / "pyproject.toml").write_text('[tool.npu-migrate]\nsafety = "numerics"\nimports = "none"\nlang = "zh"\n')
    result = migrate(tree, "--imports", "entry")
    (settings,) = engine.calls
    assert (settings.safety.value, settings.imports) == ("numerics", "entry")
    assert "需手工" in result.stdout


def test_several_paths_share_a_root(migrate, tree, engine):
    engine.results[:] = [train()]
    assert migrate(tree / "docs", tree / "train.py").stdout.startswith("detector -> ")


def test_an_interrupted_apply_is_mentioned(migrate, tree, monkeypatch):
    monkeypatch.setattr("npu_migrate.cli.migrate.interrupted", lambda _root: True)
    assert "broken off" in migrate(tree).stderr


REHEARSED = {
    "schema_version": 1,
    "target": {"torch_npu": "2.7.1.post11", "torch": "2.7.1", "cann": ""},
    "tier": "portable",
    "command": ["python", "train.py"],
    "exit_code": 0,
    "ended": "finished",
    "steps": 2,
    "processes": 1,
    "operators": [{"name": "aten::lgamma", "count": 2, "state": "cpu-fallback", "where": "train.py:3"}],
    "notes": [],
}


def test_a_rehearsal_goes_into_the_summary_and_the_reports(migrate, tree, tmp_path):
    told = tmp_path / "rehearsal.json"
    told.write_text(json.dumps(REHEARSED), encoding="utf-8")
    result = migrate(tree, "--rehearsal", told, "--report", tmp_path / "r.json", "--lang", "en")
    assert "Rehearsal (portable)" in result.stdout
    assert "on the CPU: 1" in " ".join(result.stdout.split())
    assert json.loads((tmp_path / "r.json").read_bytes())["rehearsal"]["operators"] == REHEARSED["operators"]


def test_a_rehearsal_that_is_none_is_one_line(migrate, tree, tmp_path):
    told = tmp_path / "rehearsal.json"
    told.write_text("{}", encoding="utf-8")
    for path in (told, tmp_path / "missing.json"):
        result = migrate(tree, "--rehearsal", path)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
