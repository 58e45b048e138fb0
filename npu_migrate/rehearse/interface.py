"""Torch's own backend hooks: the one place that names private parts of torch.

Everything here exists since torch 2.9; a torch release that moves a piece is mended here.
"""
# ruff: noqa: SLF001  (torch offers its backend hooks under private names only)

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch.utils import backend_registration

Value = Any  # something of torch: torch is untyped where this package touches it

BACKEND = "npu"
KEY = "PrivateUse1"
CPU = torch.device("cpu")
CPU_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
SPARSE_KEY = "SparsePrivateUse1"
SPARSE_CPU_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.SparseCPU)
DLPACK_EXTENSION_DEVICE = 12
DLPACK_DEVICE_OFFSET = 8

storage_over = torch._C._construct_storage_from_data_pointer
exclude_keys = torch._C._ExcludeDispatchKeyGuard
has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
all_operators = torch._C._dispatch_get_all_op_names
registrations = torch._C._dispatch_get_registrations_for_dispatch_key
key_set = torch._C.DispatchKeySet
dispatch_key = torch._C.DispatchKey
conj_view = torch._conj
neg_view = torch._neg_view
generator_base: Value = torch._C.Generator

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_DevicePair = ctypes.c_int32 * 2


def hand_over(cpu: Value, index: int) -> Value:
    """Make an npu tensor that owns a CPU tensor's bytes; strides of size-1 dimensions may differ."""
    capsule = torch._C._to_dlpack(cpu)
    pair = _DevicePair.from_address(_capsule_pointer(capsule, b"dltensor") + DLPACK_DEVICE_OFFSET)
    pair[0], pair[1] = DLPACK_EXTENSION_DEVICE, index
    return torch._C._from_dlpack(capsule)


def find_operator(name: str) -> Value:
    """The operator ``namespace::base.overload``, or None where this torch has none."""
    space, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, space), base), overload or "default")
    except AttributeError:
        return None


def supported() -> bool:
    """Whether this torch lets a backend be written in Python."""
    return hasattr(torch._C, "_acc")


def rename_backend() -> None:
    """PrivateUse1 is called npu from here on."""
    backend_registration.rename_privateuse1_backend(BACKEND)


def claim_backend(module: Value) -> list[Value]:
    """Register the device module, hooks and guard of the backend; returns what must stay alive."""
    acc = torch._C._acc

    class Hooks(acc.PrivateUse1Hooks):  # type: ignore[misc, name-defined]
        def is_available(self) -> bool:
            return True

        def is_built(self) -> bool:
            return True

        def has_primary_context(self, _index: int) -> bool:
            return True

    class Guard(acc.DeviceGuard):  # type: ignore[misc, name-defined]
        def type_(self) -> Value:
            return torch._C._autograd.DeviceType.PrivateUse1

    backend_registration.generate_methods_for_privateuse1_backend(for_storage=True)
    torch._register_device_module(BACKEND, module)
    hooks, guard = Hooks(), Guard()
    acc.register_python_privateuseone_hook(hooks)
    acc.register_python_privateuseone_device_guard(guard)
    return [hooks, guard]
