"""Operators that make, move or reshape device memory, and so cannot run on aliases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

import torch

from npu_migrate.rehearse import device, memory
from npu_migrate.rehearse.interface import BACKEND, CPU, CPU_KEYS, Value, find_operator
from npu_migrate.rehearse.words import words

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session

_METADATA = words(
    "as_strided view _reshape_alias unfold view.dtype view_as_real view_as_complex alias "
    "set_.source_Storage_storage_offset set_.source_Tensor set_.source_Storage set_ is_set_to"
)
_set_storage = torch.ops.aten.set_.source_Storage_storage_offset


class Kernels:
    """The kernels of one session."""

    def __init__(self, session: Session) -> None:
        """Take the session that counts the calls."""
        self._session = session

    def table(self) -> dict[str, Callable[..., Value]]:
        """Every kernel by the name under ``aten::``."""
        own: dict[str, Callable[..., Value]] = {
            "empty.memory_format": self.empty,
            "empty_strided": self.empty_strided,
            "copy_": self.copy,
            "_copy_from": self.copy_from,
            "_copy_from_and_resize": self.copy_from,
            "resize_": self.resize,
            "_local_scalar_dense": self.item,
            "record_stream": lambda _tensor, _stream: None,
            "is_pinned": lambda _tensor, device=None: False,  # noqa: ARG005  (torch's signature)
            "_pin_memory": lambda tensor, device=None: tensor,  # noqa: ARG005  (torch's signature)
        }
        for name in _METADATA:
            call = find_operator("aten::" + name)
            if call is not None:
                own[name] = self._on_metadata(name, call)
        return own

    def _on_metadata(self, name: str, call: Value) -> Callable[..., Value]:
        full = "aten::" + name

        def run(*args: Value, **kwargs: Value) -> Value:
            self._session.count(full)
            return call.redispatch(CPU_KEYS, *args, **kwargs)

        return run

    @staticmethod
    def _index(place: Value) -> int:
        device.start()
        return device.index_of(place)

    def empty(self, size: Value, *, dtype: Value = None, device: Value = None, **options: Value) -> Value:
        """``torch.empty`` on the device."""
        self._session.count("aten::empty.memory_format")
        layout = options.get("memory_format") or torch.contiguous_format
        return memory.wrap(torch.empty(size, dtype=dtype, memory_format=layout, device=CPU), self._index(device))

    def empty_strided(
        self, size: Value, stride: Value, *, dtype: Value = None, device: Value = None, **_options: Value
    ) -> Value:
        """``torch.empty_strided`` on the device."""
        self._session.count("aten::empty_strided")
        return memory.wrap(torch.empty_strided(size, stride, dtype=dtype, device=CPU), self._index(device))

    def copy(self, target: Value, source: Value, non_blocking: Value = None) -> Value:
        """``copy_``: registered although torch could derive it, which would never end for conjugate views."""
        return self.copy_from(source, target, non_blocking)

    def copy_from(self, source: Value, target: Value, non_blocking: Value = None) -> Value:
        """A copy within a device, between devices, or to or from the host."""
        self._session.count("aten::copy_")
        from_device = source.device.type == BACKEND
        to_device = target.device.type == BACKEND
        if from_device and not to_device and not non_blocking:
            self._session.note("sync", "copy to the host")
        seen = memory.alias(source) if from_device else source
        place = memory.alias(target) if to_device else target
        place.copy_(seen)
        return target

    def resize(self, tensor: Value, size: Value, *, memory_format: Value = None) -> Value:
        """``resize_``: in place where the storage is large enough, else with new bytes that keep the old ones."""
        self._session.count("aten::resize_")
        fresh = torch.empty(size, dtype=tensor.dtype, memory_format=memory_format or torch.contiguous_format)
        storage = tensor.untyped_storage()
        needed = (fresh.numel() + tensor.storage_offset()) * fresh.element_size()
        if storage.nbytes() >= needed:
            offset = tensor.storage_offset()
            return _set_storage.redispatch(CPU_KEYS, tensor, storage, offset, fresh.shape, fresh.stride())
        if tensor.numel():
            old = memory.alias(tensor).reshape(-1)[: fresh.numel()]
            fresh.view(-1)[: old.numel()].copy_(old)
        return memory.rebind(tensor, fresh)

    def item(self, tensor: Value) -> Value:
        """``.item()``: waits for the device."""
        self._session.count("aten::_local_scalar_dense")
        self._session.note("sync", ".item()")
        return memory.alias(tensor).item()


class Convolutions:
    """The two entry points that a backend outside torch gets for convolutions."""

    def __init__(self, forward: Callable[..., Value], backward: Callable[..., Value]) -> None:
        """Take the two operators that do the work."""
        self._forward = forward
        self._backward = backward

    def forward(self, *args: Value) -> Value:
        """Any convolution."""
        return self._forward(*args)

    def backward(self, grad: Value, image: Value, weight: Value, *rest: Value) -> Value:
        """Its gradients; the bias has one value an output channel."""
        *geometry, mask = rest
        transposed, groups = geometry[3], geometry[5]
        channels = weight.shape[1] * groups if transposed else weight.shape[0]
        return self._backward(grad, image, weight, [channels] if mask[2] else None, *geometry, mask)
