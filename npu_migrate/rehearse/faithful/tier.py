"""Puts the faithful tier in place in a process that was started for it."""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types
    from collections.abc import Sequence

    from npu_migrate.rehearse.settings import Settings

PACKAGE = "torch_npu"
LIBRARIES = "NPU_MIGRATE_CANN"
DEVICES = "NPU_MIGRATE_DEVICES"
_kept: list[object] = []


def environment(libraries: Path, devices: int) -> dict[str, str]:
    """What the toolkit's own script would set, and where the libraries are."""
    toolkit = libraries / "toolkit"
    return {
        LIBRARIES: str(libraries),
        DEVICES: str(devices),
        "ASCEND_HOME_PATH": str(toolkit),
        "ASCEND_OPP_PATH": str(toolkit / "opp"),
        "ASCEND_LAUNCH_BLOCKING": "1",  # what was not taken over must fail at once, not at some later wait
    }


def arm(settings: Settings) -> None:
    """Load the libraries before torch_npu asks for them, and take over when it is imported."""
    os.environ[DEVICES] = str(settings.visible_devices)
    _kept.extend(
        ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL) for path in sorted(Path(os.environ[LIBRARIES]).glob("*.so"))
    )
    sys.meta_path.insert(0, _Finder(settings))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds torch_npu where it is, and installs the executor when it has been loaded."""

    def __init__(self, settings: Settings) -> None:
        """Keep the settings for the moment of the import."""
        self._settings = settings

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The ordinary spec, with a loader that goes on after the ordinary one."""
        if fullname != PACKAGE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._settings)
        return spec


class _Loader(importlib.abc.Loader):
    """Loads torch_npu, then puts the executor under it."""

    def __init__(self, plain: importlib.abc.Loader, settings: Settings) -> None:
        """Take the ordinary loader."""
        self._plain = plain
        self._settings = settings

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        """As the ordinary loader does."""
        return self._plain.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the package, then take over."""
        self._plain.exec_module(module)
        install(self._settings)


def install(settings: Settings) -> None:
    """Put the executor under the real torch_npu of this process."""
    import torch  # noqa: PLC0415  (torch_npu has loaded it)

    from npu_migrate.rehearse import device, emulate, hccl, patches, watch  # noqa: PLC0415  (these import torch)
    from npu_migrate.rehearse.executor import Session  # noqa: PLC0415
    from npu_migrate.rehearse.facts import Facts  # noqa: PLC0415
    from npu_migrate.rehearse.faithful import draws, names, override  # noqa: PLC0415
    from npu_migrate.rehearse.journal import Journal  # noqa: PLC0415

    device.machine.count = settings.visible_devices
    device.machine.current = torch.npu.current_device
    session = Session(settings, Facts(settings.torch_npu), Journal(settings.root, settings.journal))
    session.wrap, session.rebind, session.source = override.wrap, override.rebind, draws.source
    override.register(session)
    emulate.override(session)
    hccl.replace(session)
    patches.refuse_data_parallel(session)
    patches.refuse_graphs(session)
    names.watch(session)
    watch.register(session)
    _kept.append(session)
