"""Puts the portable tier in place: an NPU written in Python, with neither a compiler nor torch_npu."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

from npu_migrate.rehearse.facts import Facts
from npu_migrate.rehearse.journal import Journal
from npu_migrate.rehearse.modules import Finder

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session
    from npu_migrate.rehearse.settings import Settings

_AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
_kept: list[object] = []
_sessions: list[Session] = []


def arm(settings: Settings) -> Finder:
    """Have the first import of ``torch_npu`` install the simulation; torch is not imported yet."""
    finder = Finder(lambda: _install(settings, finder))
    sys.meta_path.insert(0, finder)
    return finder


def _import_torch() -> None:
    """As torch_npu does: without torch loading torch_npu in turn."""
    before = os.environ.get(_AUTOLOAD)
    os.environ[_AUTOLOAD] = "0"
    try:
        importlib.import_module("torch")
    finally:
        if before is None:
            del os.environ[_AUTOLOAD]
        else:
            os.environ[_AUTOLOAD] = before


def _install(settings: Settings, finder: Finder) -> Session:
    _import_torch()
    return install(settings, finder)


def install(settings: Settings, finder: Finder) -> Session:
    """Register everything with torch; returns the session."""
    from npu_migrate.rehearse import (  # noqa: PLC0415  (these import torch)
        autocast,
        backend,
        device,
        emulate,
        hccl,
        interface,
        patches,
        placing,
        random,
        sparse,
        storage,
        surface,
        watch,
    )
    from npu_migrate.rehearse.executor import Session  # noqa: PLC0415

    if not interface.supported():
        message = "The portable tier needs a torch that takes backends written in Python (2.9 or later)."
        raise ImportError(message)
    device.machine.count = settings.visible_devices
    session = Session(settings, Facts(settings.torch_npu), Journal(settings.root, settings.journal))
    interface.rename_backend()
    random.register()
    randomness = random.Randomness(max(1, settings.devices))
    session.source = randomness.source
    module = finder.fill(session, surface.tables(session, randomness, emulate.register(session)))
    _kept.append(interface.claim_backend(module))
    for part in (backend, sparse, storage, patches, placing, hccl, watch):
        part.register(session)
    autocast.register()
    _sessions.append(session)
    return session


def session_in_place() -> Session | None:
    """The session of this process, if the simulation is in place."""
    return _sessions[-1] if _sessions else None
