"""Values that name a CUDA device or backend, wherever they are written."""

from __future__ import annotations

import re

_DEVICE = re.compile(r"cuda(?::[\w,${}-]*)?")
_BACKEND = re.compile(r"(?:\w+:\w+,)*(?:\w+:)?nccl(?:,\w+:\w+)*", re.IGNORECASE)


def device_value(value: str) -> bool:
    """Whether a value is a device string such as ``cuda`` or ``cuda:0``."""
    return _DEVICE.fullmatch(value) is not None


def backend_value(value: str) -> bool:
    """Whether a value is a process group backend such as ``nccl`` or ``cpu:gloo,cuda:nccl``."""
    return _BACKEND.fullmatch(value) is not None


def npu_name(value: str) -> str:
    """The same device or backend on Ascend."""
    return re.sub("nccl", "hccl", value, flags=re.IGNORECASE).replace("cuda", "npu")
