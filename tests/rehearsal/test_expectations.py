from __future__ import annotations

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "expectations"


def _names():
    for path in sorted(HERE.glob("*.py")):
        if path.stem not in {"__init__", "marks"}:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in tree.body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    yield f"{path.stem}.{node.name}"


NAMES = list(_names())


def test_there_are_enough():
    assert len(NAMES) >= 120
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_portable(outcomes, name):
    assert outcomes("portable")[name] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_faithful(outcomes, name):
    assert outcomes("faithful")[name] == "ok"
