"""Every package of the shared table is known to the rule for imports."""

from __future__ import annotations

from npu_migrate import packs
from npu_migrate.files.tables import modules


def test_every_module_of_the_table_has_a_case():
    case = packs.load().find("NPU701").fixtures / "every_package.in.py"
    assert case.read_text(encoding="utf-8").splitlines() == [f"import {module}" for module in sorted(modules())]


def test_every_message_of_the_table_exists():
    rule = packs.load().find("NPU701")
    assert {package.message for package in modules().values()} <= set(rule.messages)
