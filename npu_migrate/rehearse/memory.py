"""The simulated device memory: npu tensors over host bytes, and the account of what they take."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import torch

from npu_migrate.rehearse.interface import CPU, CPU_KEYS, Value, conj_view, hand_over, neg_view, storage_over

_BLOCK = 512
_SEGMENT = 2 << 20
TOTAL = 64 << 30
"""Bytes of one simulated device."""

_true_size = torch.UntypedStorage.nbytes  # kept before a resize of a storage is taught to torch
_as_strided = torch.ops.aten.as_strided.default
_set_storage = torch.ops.aten.set_.source_Storage_storage_offset


@dataclass
class Account:
    """What a caching allocator would say about one device."""

    allocated: int = 0
    peak: int = 0
    reserved: int = 0
    peak_reserved: int = 0
    blocks: int = 0
    allocations: int = 0
    fraction: float = 1.0

    def take(self, size: int) -> None:
        """Allocate."""
        if self.allocated + size > TOTAL * self.fraction:
            message = (
                f"NPU out of memory. Tried to allocate {size / 2**20:.2f} MiB "
                f"({TOTAL / 2**30:.2f} GiB total capacity; {self.allocated / 2**20:.2f} MiB already allocated)"
            )
            raise torch.OutOfMemoryError(message)
        self.allocated += size
        self.blocks += 1
        self.allocations += 1
        self.peak = max(self.peak, self.allocated)
        if self.allocated > self.reserved:
            self.reserved = _up(self.allocated, _SEGMENT)
            self.peak_reserved = max(self.peak_reserved, self.reserved)

    def give(self, size: int) -> None:
        """Free into the cache."""
        self.allocated -= size
        self.blocks -= 1

    def trim(self) -> None:
        """Return the cache to the device."""
        self.reserved = _up(self.allocated, _SEGMENT)

    def reset_peak(self) -> None:
        """Forget the peaks."""
        self.peak, self.peak_reserved = self.allocated, self.reserved


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


class _Held(weakref.ref):  # type: ignore[type-arg]
    """A storage that counts as device memory for as long as it lives."""

    __slots__ = ("index", "key", "size")
    index: int
    key: int
    size: int


accounts: dict[int, Account] = {}
_held: dict[int, _Held] = {}


def account(index: int) -> Account:
    """The account of a device."""
    found = accounts.get(index)
    if found is None:
        found = accounts[index] = Account()
    return found


def _release(ref: _Held) -> None:
    _held.pop(ref.key, None)
    account(ref.index).give(ref.size)


def claim(storage: Value, size: int) -> None:
    """Count a storage as larger or smaller from now on."""
    held = _held.get(id(storage))
    if held is not None:
        books = account(held.index)
        books.give(held.size)
        held.size = _up(size, _BLOCK)
        books.take(held.size)


def wrap(cpu: Value, index: int) -> Value:
    """Turn a CPU tensor into an npu tensor over the same bytes."""
    if cpu.is_conj() or cpu.is_neg():
        cpu = cpu.resolve_conj().resolve_neg()
    shape, strides = cpu.shape, cpu.stride()
    made = hand_over(cpu, index)
    if made.stride() != strides:
        made = _as_strided.redispatch(CPU_KEYS, made, shape, strides, 0)
    storage = made.untyped_storage()
    size = _up(_true_size(storage), _BLOCK)
    if size:
        account(index).take(size)
        held = _Held(storage, _release)
        held.index, held.key, held.size = index, id(storage), size
        _held[id(storage)] = held
    return made


def alias(npu: Value) -> Value:
    """A CPU tensor over an npu tensor's bytes; valid as long as the npu tensor lives."""
    storage = npu.untyped_storage()
    size = _true_size(storage)
    if size:
        seen = torch.empty(0, dtype=npu.dtype).set_(
            storage_over(storage.data_ptr(), CPU, size), npu.storage_offset(), npu.shape, npu.stride()
        )
    else:
        seen = torch.empty_strided(npu.shape, npu.stride(), dtype=npu.dtype)
    if npu.is_conj():
        seen = conj_view(seen)
    return neg_view(seen) if npu.is_neg() else seen


def view_of(npu: Value, cpu: Value) -> Value:
    """The view of an npu tensor that has the geometry and dtype of a view of its alias."""
    if cpu.dtype == npu.dtype:
        return _as_strided.redispatch(CPU_KEYS, npu, cpu.shape, cpu.stride(), cpu.storage_offset())
    made = hand_over(torch.empty(0, dtype=cpu.dtype), npu.device.index)
    storage = npu.untyped_storage()
    return _set_storage.redispatch(CPU_KEYS, made, storage, cpu.storage_offset(), cpu.shape, cpu.stride())


def rebind(npu: Value, cpu: Value) -> Value:
    """Give an npu tensor other bytes and another shape, as a resize does."""
    fresh = wrap(cpu, npu.device.index)
    return _set_storage.redispatch(CPU_KEYS, npu, fresh.untyped_storage(), 0, fresh.shape, fresh.stride())


def sparse_alias(value: Value) -> Value:
    """A sparse npu tensor as a sparse CPU tensor over the same bytes."""
    parts = (alias(value._indices()), alias(value._values()))  # noqa: SLF001  (no public access that keeps them)
    return torch.sparse_coo_tensor(*parts, value.shape, is_coalesced=value.is_coalesced(), check_invariants=False)


def sparse_wrap(value: Value, index: int) -> Value:
    """A sparse CPU result as a sparse npu tensor."""
    parts = (wrap(value._indices(), index), wrap(value._values(), index))  # noqa: SLF001
    return torch.sparse_coo_tensor(*parts, value.shape, is_coalesced=value.is_coalesced(), check_invariants=False)
