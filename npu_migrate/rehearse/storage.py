"""Storages, pinned memory and legacy tensor types: the parts of torch that have no hook for a Python backend."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from npu_migrate.rehearse import device, memory
from npu_migrate.rehearse.interface import BACKEND, CPU, Value, storage_over

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session

_pinned: weakref.WeakKeyDictionary[Value, bool] = weakref.WeakKeyDictionary()


def register(session: Session) -> None:
    """Teach torch's storages and tensors about the device."""
    _teach_storages(session)
    _teach_pinning(session)
    _teach_type_names()


def _bytes_of(storage: Value) -> Value:
    """A CPU copy of a storage's bytes, as a tensor."""
    size = storage.nbytes()
    copied = torch.empty(size, dtype=torch.uint8)
    if size:
        source = storage if storage.device.type == "cpu" else storage_over(storage.data_ptr(), CPU, size)
        copied.copy_(torch.empty(0, dtype=torch.uint8).set_(source, 0, (size,), (1,)))
    return copied


def _teach_storages(session: Session) -> None:
    base = torch.storage._StorageBase  # noqa: SLF001  (the class that both kinds of storages share)
    plain = {"cpu": base.cpu, "clone": base.clone}

    def npu(self: Value, device_: Value = None, non_blocking: Value = None) -> Value:  # noqa: ARG001
        index = device.index_of(device_)
        if self.device.type == BACKEND and self.device.index == index:
            return self
        return session.wrap(_bytes_of(self), index).untyped_storage()

    def cpu(self: Value) -> Value:
        return _bytes_of(self).untyped_storage() if self.device.type == BACKEND else plain["cpu"](self)

    def clone(self: Value) -> Value:
        if self.device.type != BACKEND:
            return plain["clone"](self)
        return session.wrap(_bytes_of(self), self.device.index).untyped_storage()

    def to(self: Value, *, device: Value, non_blocking: Value = None) -> Value:
        place = torch.device(device)
        if place.type == BACKEND:
            return npu(self, place)
        return cpu(self) if place.type == "cpu" else plain_to(self, device=place, non_blocking=bool(non_blocking))

    plain_to = base.to
    for kind in (base, torch.UntypedStorage):
        kind.npu, kind.cpu, kind.clone, kind.to = npu, cpu, clone, to
    _refuse_bare_storage()
    _teach_resizing()


def _teach_resizing() -> None:
    """A storage that shrinks keeps its bytes, and says that it has fewer; sharded training frees weights so."""
    sizes: weakref.WeakKeyDictionary[Value, int] = weakref.WeakKeyDictionary()
    plain_size, plain_resize = torch.UntypedStorage.nbytes, torch.UntypedStorage.resize_

    def nbytes(self: Value) -> int:
        return sizes.get(self, plain_size(self)) if self.device.type == BACKEND else int(plain_size(self))

    def resize_(self: Value, size: Value) -> Value:
        if self.device.type != BACKEND:
            return plain_resize(self, size)
        if size > plain_size(self):
            message = "A rehearsal cannot grow an NPU storage beyond its first size."
            raise NotImplementedError(message)
        sizes[self] = int(size)
        memory.claim(self, int(size))
        return self

    kind = torch.UntypedStorage
    kind.nbytes, kind.size, kind.__len__, kind.resize_ = nbytes, nbytes, nbytes, resize_


def _refuse_bare_storage() -> None:
    """``UntypedStorage(n, device="npu")`` has no allocator behind it: make it from a tensor."""
    plain = torch.UntypedStorage.__new__

    def make(kind: Value, *args: Value, **kwargs: Value) -> Value:
        place = kwargs.get("device")
        if place is None or torch.device(place).type != BACKEND:
            return plain(kind, *args, **kwargs)
        size = int(args[0]) if args and isinstance(args[0], int) else 0
        return torch.empty(size, dtype=torch.uint8, device=place).untyped_storage()

    torch.UntypedStorage.__new__ = make


def _teach_pinning(session: Session) -> None:
    def pin_memory(self: Value, device: Value = None) -> Value:
        if self.device.type != "cpu":
            message = f"cannot pin '{self.type()}' only dense CPU tensors can be pinned"
            raise RuntimeError(message)
        if device is not None and torch.device(device).type == "cuda":
            session.note("cuda", "pin_memory for a CUDA device")
        if self.is_pinned():
            return self
        copied = self.clone(memory_format=torch.preserve_format)
        _pinned[copied.untyped_storage()] = True
        return copied

    def is_pinned(self: Value, device: Value = None) -> bool:  # noqa: ARG001  (torch's signature)
        return self.layout is torch.strided and self.device.type == "cpu" and self.untyped_storage() in _pinned

    torch.Tensor.pin_memory = pin_memory
    torch.Tensor.is_pinned = is_pinned
    plain_empty = torch.empty

    def empty(*size: Value, **options: Value) -> Value:
        if not options.pop("pin_memory", None):
            return plain_empty(*size, **options)
        return pin_memory(plain_empty(*size, **options))

    torch.empty = empty


def _teach_type_names() -> None:
    plain = torch.Tensor.type

    def type_(self: Value, dtype: Value = None, *args: Value, **kwargs: Value) -> Value:
        if self.device.type != BACKEND or dtype is not None:
            return plain(self, dtype, *args, **kwargs) if dtype is not None else plain(self)
        return "torch.npu." + plain(torch.empty(0, dtype=self.dtype)).rpartition(".")[2]

    torch.Tensor.type = type_


class _OnDevice(type):
    """Lets ``isinstance(x, torch.npu.FloatTensor)`` answer as torch's legacy types do."""

    kind: Value

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, torch.Tensor) and value.device.type == BACKEND and value.dtype is cls.kind


def legacy_types() -> dict[str, Value]:
    """``torch.npu.FloatTensor`` and the others."""
    kinds = {
        "Float": torch.float32,
        "Double": torch.float64,
        "Half": torch.float16,
        "BFloat16": torch.bfloat16,
        "Long": torch.int64,
        "Int": torch.int32,
        "Short": torch.int16,
        "Char": torch.int8,
        "Byte": torch.uint8,
        "Bool": torch.bool,
    }
    return {name + "Tensor": _legacy(name + "Tensor", kind) for name, kind in kinds.items()}


def _legacy(name: str, kind: Value) -> Value:
    def make(_cls: Value, *args: Value) -> Value:
        if args and not all(isinstance(size, int) for size in args):
            return torch.tensor(args[0], dtype=kind, device=BACKEND)
        return torch.empty(*(args or (0,)), dtype=kind, device=BACKEND)

    return _OnDevice(name, (), {"__new__": make, "kind": kind, "dtype": kind, "__module__": "torch.npu"})
