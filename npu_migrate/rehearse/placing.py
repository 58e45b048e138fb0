"""``"npu"`` without a number means the current device, also where torch asks its guard.

A guard written in Python always names device 0, so the number is filled in before torch can ask.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import torch

from npu_migrate.rehearse import device
from npu_migrate.rehearse.interface import BACKEND, Value

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session

_ASKING = (
    (torch.Tensor, "to"),
    (torch.Tensor, "new_tensor"),
    (torch, "tensor"),
    (torch, "as_tensor"),
    (torch, "asarray"),
    (torch, "sparse_coo_tensor"),
)


def register(_session: Session) -> None:
    """Wrap the functions of torch that ask."""
    for owner, name in _ASKING:
        _wrap(owner, name)


def numbered(value: Value) -> Value:
    """A device argument with its number; anything else as it is."""
    if type(value) is str and value == BACKEND:
        return f"{BACKEND}:{device.current()}"
    if type(value) is torch.device and value.type == BACKEND and value.index is None:
        return torch.device(BACKEND, device.current())
    return value


def _wrap(owner: Value, name: str) -> None:
    plain = getattr(owner, name)

    @functools.wraps(plain)
    def placed(*args: Value, **kwargs: Value) -> Value:
        if device.current():
            args = tuple(numbered(value) for value in args)
            if "device" in kwargs:
                kwargs["device"] = numbered(kwargs["device"])
        return plain(*args, **kwargs)

    setattr(owner, name, placed)
