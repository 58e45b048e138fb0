"""The region engine and stock LibCST over the whole module give equal bytes: every rule, every fixture, real trees."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from real_trees import TREES, python_files

from npu_migrate import packs
from npu_migrate.engine import fixtures, python_file
from npu_migrate.engine.module import PythonModule
from npu_migrate.engine.project import Project
from npu_migrate.engine.rules import ActiveRules
from npu_migrate.engine.settings import Settings
from npu_migrate.engine.text import SourceText
from npu_migrate.engine.work import Work
from npu_migrate.suppressions import Suppressions
from npu_migrate.target import load

SETTINGS = Settings(target=load("2.7.1"), imports="none")
RULES = [info for info in packs.load().all() if info.codemod.is_file()]
ROOT = Path(__file__).parents[2]
FIXTURES = sorted([*ROOT.glob("fixtures/*/*.in.py"), *ROOT.glob("fixtures/projects/**/*.py")])


def module_of(data: bytes) -> PythonModule:
    return PythonModule("case.py", SourceText.decode(data))


def by_region(data: bytes, info: packs.RuleInfo) -> str:
    rules = ActiveRules([info])
    return python_file.rewrite(module_of(data), rules, SETTINGS, Suppressions.of_python(""), Project({})).text


def by_stock_libcst(data: bytes, info: packs.RuleInfo) -> str:
    """What LibCST itself makes of the rule: a visit of the whole module, as for any other codemod."""
    module = module_of(data)
    if not ActiveRules([info]).for_module(module):
        return module.text
    tree = cst.parse_module(module.text)
    work = Work(module, tree, SETTINGS, Suppressions.of_python(""))
    return tree.visit(packs.load_codemod(info)(info, work)).code


@pytest.mark.parametrize("info", RULES, ids=lambda info: info.code)
def test_on_every_fixture(info):
    for path in FIXTURES:
        data = path.read_bytes()
        assert by_region(data, info) == by_stock_libcst(data, info), path


def test_a_rule_changes_some_fixture():
    """Guards the comparison above against comparing nothing with nothing."""
    changed = [
        info for info in RULES if any(by_region(p.read_bytes(), info) != p.read_text() for p in fixtures.cases(info))
    ]
    assert changed


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES)
def test_on_real_trees(tree, request):
    for path in python_files(tree, request.config.cache):
        data = path.read_bytes()
        try:
            module = module_of(data)
        except (SyntaxError, ValueError):
            continue
        for info in (info for info in RULES if ActiveRules([info]).for_module(module)):
            assert by_region(data, info) == by_stock_libcst(data, info), (path, info.code)
