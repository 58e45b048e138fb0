"""Joins a child process to the rehearsal that it belongs to; called by its ``sitecustomize``."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import signal
import sys
from pathlib import Path

from npu_migrate.rehearse.settings import Settings


def join(site: str) -> None:
    """Arm this process, then run the ``sitecustomize`` that ours hides."""
    settings = Settings.from_environment()
    if settings is not None:
        # A shell's background jobs ignore it; the program would then be killed before it has written its journal.
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        part = "faithful.tier" if settings.tier == "faithful" else "portable"
        importlib.import_module(f"npu_migrate.rehearse.{part}").arm(settings)
    _run_hidden(site)


def _run_hidden(site: str) -> None:
    elsewhere = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(site).resolve()]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
