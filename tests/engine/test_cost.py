"""What a run costs: CPU time beside LibCST's parse of the same files, and memory that is let go."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest
from real_trees import tree

from npu_migrate.engine.module import PythonModule
from npu_migrate.engine.run import migrate
from npu_migrate.engine.settings import Settings
from npu_migrate.target import load

ROOT = Path(__file__).parents[2]
# The goal is 0.5; a gate has to hold on a busy machine too.
GATE = 1.0


@pytest.mark.slow
@pytest.mark.parametrize("pin", ["yolov5==7.0.14", "timm==1.0.19"])
def test_a_run_costs_less_than_parsing_with_libcst(pin, request):
    command = [sys.executable, "benchmarks/engine.py", str(tree(pin, request.config.cache))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
    _, row, _ = done.stdout.splitlines()
    name, candidates, *_, ratio, _ = row.split()
    assert name == pin
    assert int(candidates) > 10
    assert float(ratio) < GATE


def test_a_module_is_let_go_without_the_garbage_collector():
    gc.collect()
    before = _modules()
    gc.disable()
    try:
        results = list(migrate([ROOT / "fixtures" / "projects" / "yolo_mini"], Settings(target=load())))
        assert sum(len(result.findings) for result in results) > 50
        assert _modules() <= before
    finally:
        gc.enable()


def _modules() -> int:
    return sum(type(one) is PythonModule for one in gc.get_objects())  # isinstance would run code of lazy objects
