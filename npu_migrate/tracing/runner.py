"""Starts the process of a traced program, and reads what it wrote."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from npu_migrate.errors import InputError
from npu_migrate.processes import supervise
from npu_migrate.tracing.settings import SCRIPT
from npu_migrate.tracing.trace import Trace, restored

if TYPE_CHECKING:
    from npu_migrate.tracing.settings import Settings

_STANDARD_ERROR = 2


def run(settings: Settings, *, max_seconds: float | None = None) -> Trace:
    """Run a script or a callable from the current folder; what it prints goes to standard error.

    Raises:
        InputError: torch is missing, or there is nothing to run.
    """
    if importlib.util.find_spec("torch") is None:
        raise InputError(says="trace-no-torch")
    _check(settings)
    with tempfile.TemporaryDirectory(prefix="npu-trace-") as folder:
        into, asked = Path(folder) / "trace.json", Path(folder) / "settings.json"
        replace(settings, into=str(into)).save(asked)
        words = [sys.executable, "-m", "npu_migrate.tracing", str(asked)]
        code, ended = supervise(words, Path.cwd(), _environment(), max_seconds, _STANDARD_ERROR)
        unfit = into.with_suffix(".unfit")
        if unfit.exists():
            found = json.loads(unfit.read_text(encoding="utf-8"))
            raise InputError(says=f"trace-{found['unfit']}", fact=found["fact"])
        if not into.exists():
            return Trace([settings.what, *settings.arguments], ended=_END.get(ended, "vanished"), exit_code=code)
        trace = restored(json.loads(into.read_text(encoding="utf-8"))["trace"])
    if ended == "finished":
        return trace
    trace.ended, trace.exit_code = ended, code
    return trace


_END = {"time": "time", "interrupted": "interrupted"}


def _check(settings: Settings) -> None:
    what = settings.what
    place = what if what.endswith(SCRIPT) else what.rpartition(":")[0]
    if not place:
        raise InputError(says="trace-what", path=what)
    if settings.arguments and place != what:
        raise InputError(says="trace-arguments", fact=settings.arguments[0])
    if place.endswith(SCRIPT) and not Path(place).is_file():
        raise InputError(says="no-path", path=place)


def _environment() -> dict[str, str]:
    """Ours, in which the tool is found wherever the program runs, and ``torch.compile`` leaves programs as they are."""
    tool = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), tool]))
    return {**os.environ, "PYTHONPATH": path, "TORCHDYNAMO_DISABLE": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
