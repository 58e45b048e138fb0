"""``pytest --npu-rehearse``: a project's own tests on a simulated NPU."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_migrate.rehearse.environment import prepare
from npu_migrate.rehearse.settings import Settings
from npu_migrate.rehearse.simulation import simulate

if TYPE_CHECKING:
    from npu_migrate.rehearse.report import Report

_kept: dict[str, Any] = {}


def pytest_addoption(parser: Any) -> None:  # noqa: ANN401  (pytest is needed only where it runs)
    """Add the options."""
    group = parser.getgroup("npu-rehearse")
    group.addoption(
        "--npu-rehearse",
        nargs="?",
        const="",
        default=None,
        metavar="TORCH_NPU",
        help="run the tests on a simulated NPU of this torch_npu release (default: the newest known)",
    )
    group.addoption("--npu-devices", type=int, default=8, metavar="N", help="number of simulated NPUs")


def pytest_load_initial_conftests(early_config: Any, parser: Any, args: list[str]) -> None:  # noqa: ANN401
    """Put the simulation in place before a conftest can import torch."""
    del parser, args
    asked = early_config.known_args_namespace
    if asked.npu_rehearse is None:
        return
    stack = _kept["stack"] = ExitStack()
    version = asked.npu_rehearse or None
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="npu-rehearsal-")))
    settings = Settings("portable", version, devices=asked.npu_devices, root=str(early_config.rootpath))
    os.environ.update(prepare(folder, settings))
    _kept["report"] = stack.enter_context(simulate(version, devices=asked.npu_devices, root=settings.root))


def pytest_terminal_summary(terminalreporter: Any) -> None:  # noqa: ANN401
    """Show the report after the tests."""
    if "stack" in _kept:
        _kept.pop("stack").close()
        report: Report = _kept.pop("report")
        terminalreporter.section("NPU rehearsal")
        terminalreporter.write_line(report.text())
