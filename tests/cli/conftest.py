"""A pack of two rules, a tree, and an engine that finds what a test tells it to."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, NamedTuple

import pytest
from cli_samples import PACK, TRAIN, notes, train
from click.testing import CliRunner, Result

from npu_migrate.cli.main import cli

if TYPE_CHECKING:
    from npu_migrate.engine.settings import Settings


# Since click 8.2 the two streams are always kept apart.
APART = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}


class Engine(NamedTuple):
    """What the fake engine yields, and the settings it was called with."""

    results: list
    calls: list[Settings]


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "detector"
    (root / "docs").mkdir(parents=True)
    (root / "train.py").write_bytes(TRAIN)
    (root / "docs" / "说明.py").write_text("# cuda 数据\ncuda or cuda\n", encoding="utf-8")
    return root


@pytest.fixture
def engine(monkeypatch):
    fake = Engine([train(), notes()], [])

    def migrate(_roots, settings, progress=None):
        fake.calls.append(settings)
        for number, result in enumerate(fake.results):
            progress(number, len(fake.results), result.path)
            yield result

    monkeypatch.setattr("npu_migrate.cli.migrate.migrate", migrate)
    return fake


@pytest.fixture
def run(monkeypatch):
    """Runs the command line as a pipe would see it, in English unless told otherwise."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def call(*args, **env) -> Result:
        result = CliRunner(**APART).invoke(cli, [str(arg) for arg in args], env=env)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def migrate(run, engine):
    """The main job over the fake engine and the pack of this folder."""
    assert engine.results
    return lambda *args, **env: run(*args, "--torch-npu", "2.7.1", "--rules", PACK, **env)
