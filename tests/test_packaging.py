"""The rules are found in all three installs: wheel, editable, bare checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from npu_migrate import packs

REPOSITORY = Path(__file__).resolve().parents[1]
PARTS = ("npu_migrate", "rules", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE")
BUILD = """
import sys
from hatchling.builders.wheel import WheelBuilder
print(next(WheelBuilder(sys.argv[1]).build(directory=sys.argv[2], versions=[sys.argv[3]])))
"""
FIND = """
import sys
sys.path.insert(0, sys.argv[1])
from npu_migrate import packs
packs.load()
print(packs.builtin())
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy: building writes beside the sources."""
    pytest.importorskip("hatchling")
    copy = tmp_path_factory.mktemp("checkout")
    for part in filter(Path.exists, (REPOSITORY / part for part in PARTS)):
        if part.is_dir():
            shutil.copytree(part, copy / part.name)
        else:
            shutil.copy(part, copy)
    (copy / "README.md").touch()
    (copy / "rules" / "__pycache__").mkdir()
    (copy / "rules" / "__pycache__" / "stale.pyc").touch()
    return copy


def build(checkout, folder, version):
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(checkout), str(folder), version], check=True, capture_output=True, text=True
    )
    with zipfile.ZipFile(done.stdout.strip().splitlines()[-1]) as wheel:
        wheel.extractall(folder / "installed")
        return folder / "installed", wheel.namelist()


def rules_found(path):
    """Where a program finds the rules that has ``path`` as its site-packages."""
    done = subprocess.run([sys.executable, "-I", "-c", FIND, str(path)], check=True, capture_output=True, text=True)
    return Path(done.stdout.strip())


def test_a_wheel_carries_the_rules(checkout, tmp_path):
    installed, names = build(checkout, tmp_path, "standard")
    assert rules_found(installed) == installed / "npu_migrate" / "rules"
    wanted = {path.relative_to(REPOSITORY / "rules") for path in (REPOSITORY / "rules").rglob("rule.toml")}
    shipped = {path.relative_to(installed / "npu_migrate" / "rules") for path in installed.rglob("rule.toml")}
    assert shipped == wanted
    assert not [name for name in names if "__pycache__" in name or name.startswith(("fixtures", "tests", "rules/"))]
    assert "npu_migrate/cli/messages.toml" in names


def test_an_editable_install_has_no_copy_to_go_stale(checkout, tmp_path):
    pytest.importorskip("editables")
    installed, names = build(checkout, tmp_path, "editable")
    assert not [name for name in names if "rules" in name]
    (pth,) = installed.glob("*.pth")
    assert rules_found(pth.read_text().strip()) == checkout / "rules"


def test_a_bare_checkout_needs_no_install(checkout):
    assert rules_found(checkout) == checkout / "rules"


def test_this_checkout_uses_its_own_rules():
    assert packs.builtin() in {REPOSITORY / "rules", REPOSITORY / "npu_migrate" / "rules"}
