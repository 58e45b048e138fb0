"""Which simulated device is current, and the errors about devices."""

from __future__ import annotations

import os
import threading
from typing import Callable

import torch

from npu_migrate.rehearse.interface import BACKEND, Value

_local = threading.local()


class _Machine:
    """What the process knows about its simulated machine."""

    count = 8
    in_bad_fork = False
    initialized = False
    current: Callable[[], int] | None = None


machine = _Machine()


def _forked() -> None:
    machine.in_bad_fork = machine.initialized


os.register_at_fork(after_in_child=_forked)


def current() -> int:
    """The index of the current device of this thread."""
    return getattr(_local, "index", 0) if machine.current is None else machine.current()


def check(index: int) -> int:
    """The index itself, if there is such a device."""
    if not 0 <= index < machine.count:
        message = f"Invalid device ID. Check whether the device {index} is available: error code 107001."
        raise RuntimeError(message)
    return index


def start() -> None:
    """Use the devices in this process; refused in a forked child of a process that did."""
    if machine.in_bad_fork:
        message = (
            "Cannot re-initialize NPU in forked subprocess. "
            "To use NPU with multiprocessing, you must use the 'spawn' start method"
        )
        raise RuntimeError(message)
    machine.initialized = True


def select(index: int) -> None:
    """Make a device current in this thread."""
    start()
    _local.index = check(index)


def index_of(device: Value = None) -> int:
    """The index that a device argument means: an int, a string, a torch.device, or None for the current one."""
    if device is None:
        return current()
    if isinstance(device, int) and not isinstance(device, bool):
        return current() if device < 0 else check(device)
    named = torch.device(device)
    if named.type != BACKEND:
        message = f"Expected a npu device, but got: {named}"
        raise ValueError(message)
    return current() if named.index is None else check(named.index)


def mixed(first: object, second: object) -> RuntimeError:
    """The error for tensors on two devices."""
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    )
