"""Real programs, migrated by the tool alone, then rehearsed.

Most trees are repositories that no package index carries. Put checkouts below one folder and name it in
NPU_MIGRATE_TREES: yolov5 and yolov5-v7.0, nanoGPT, examples (pytorch/examples), timm, detr. The others are here, in
``projects``. NPU_MIGRATE_TABLE names a file that gets a line of the table in docs/rehearse.md for each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import PROGRAMS, PROJECTS

from npu_migrate.errors import InputError
from npu_migrate.rehearse import Settings, run
from npu_migrate.rehearse.tiers import settle

ROOT = Path(__file__).parents[2]
VARIABLE = "NPU_MIGRATE_TREES"
RELEASE = "2.13.0"

TABLE = "NPU_MIGRATE_TABLE"

pytestmark = pytest.mark.slow


def _source(name):
    own = PROJECTS / name
    if own.is_dir():
        return own
    if VARIABLE not in os.environ:
        pytest.skip(f"{name} is on no package index, and {VARIABLE} names no folder of checkouts")
    source = Path(os.environ[VARIABLE]) / name
    if not source.is_dir():
        pytest.skip(f"no {name} below the folder of checkouts")
    return source


def _line(name, tier, report, edits):
    """A line of the table: program, steps, operators, those on the CPU."""
    fallen = ", ".join(use.name.removeprefix("aten::") for use in report.in_state("cpu-fallback")) or "none"
    calls = sum(use.count for use in report.operators)
    return f"| {name} | {tier} | {report.steps} | {len(report.operators)} kinds, {calls} calls | {fallen} | {edits} |\n"


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    """Migrates a tree once, by the tool alone."""
    done: dict[str, Path] = {}

    def of(name: str) -> Path:
        source = _source(name)
        if name not in done:
            folder = tmp_path_factory.mktemp("migrated") / name
            command = [sys.executable, "-m", "npu_migrate", str(source), "-o", str(folder), "--torch-npu", RELEASE]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=environment)
            done[name] = folder
        return done[name]

    return of


@pytest.mark.parametrize("tier", ["portable", "faithful"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs(migrated, name, tier, capfd, tmp_path):
    program = PROGRAMS[name]
    for package in program.needs:
        module, _, attribute = package.partition(".")
        found = pytest.importorskip(module)
        if attribute and not hasattr(found, attribute):
            pytest.skip(f"{module} here has no {attribute}")
    try:
        settings = settle(Settings(tier, RELEASE, max_steps=program.steps))[0]
    except InputError as error:
        pytest.skip(str(error))
    tree = Path(shutil.copytree(migrated(program.tree), tmp_path / program.tree))
    for change in filter(None, (program.prepare, program.edit)):
        change(tree)
    visible = ",".join(map(str, range(program.devices)))
    environment = {
        **os.environ,
        "ASCEND_RT_VISIBLE_DEVICES": visible,
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",  # checkpoints of older programs hold whole models
    }
    report = run(tree, ["bash", "-c", program.command], settings, environment=environment)
    assert report.exit_code == 0, capfd.readouterr().err[-3000:]
    assert report.used if program.own_steps else report.steps >= 1
    assert not report.of("cuda", "device-mix", "missing-name", "not-carried-out"), report.text()
    if TABLE in os.environ:
        with Path(os.environ[TABLE]).open("a", encoding="utf-8") as table:
            table.write(_line(name, tier, report, int(program.edit is not None)))
