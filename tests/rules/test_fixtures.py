"""Every rule does what its fixtures say."""

from __future__ import annotations

import pytest

from npu_migrate import packs
from npu_migrate.engine import fixtures

REGISTRY = packs.load()
RULES = [info for info in REGISTRY.all() if info.source is not None]


@pytest.mark.parametrize("info", RULES, ids=lambda info: info.code)
def test_fixtures_hold(info):
    failures = [f"{failure.case.name}: {failure.says}" for failure in fixtures.check(info, REGISTRY)]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("info", RULES, ids=lambda info: info.code)
def test_a_rule_has_an_example_and_a_case_it_leaves_alone(info):
    inputs = fixtures.cases(info)
    changing = {case for case in inputs if case.with_name(case.name.replace(".in.py", ".out.py")).is_file()}
    assert inputs
    assert set(inputs) - changing, f"{info.code} has no fixture that must stay untouched"
