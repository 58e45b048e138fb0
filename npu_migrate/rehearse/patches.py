"""Small changes to torch's Python layer that ``import torch_npu`` brings, or that a Python backend needs."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Callable

import torch

from npu_migrate.rehearse import device, streams, unused
from npu_migrate.rehearse.interface import BACKEND, Value
from npu_migrate.rehearse.modules import stand_in
from npu_migrate.rehearse.words import words

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session


def register(session: Session) -> None:
    """Apply all of them."""
    _run_backward_in_one_thread()
    refuse_data_parallel(session)
    unused.register(session)
    _teach_accelerator()
    torch.nn.Module.npu = _module_npu


def _module_npu(self: Value, device: Value = None) -> Value:
    """``Module.npu``: a number or nothing, as in torch_npu, which takes no device object here."""
    place = torch.device(BACKEND) if device is None else torch.device(BACKEND, device)
    return self._apply(lambda tensor: tensor.npu(place))


def _run_backward_in_one_thread() -> None:
    """A guard written in Python reports one device, so the engine has no queue for the others."""
    import torch.autograd.graph as graph  # noqa: PLC0415, PLR0402  (the module, whose attribute is replaced)

    plain = graph._engine_run_backward  # noqa: SLF001

    def run(*args: Value, **kwargs: Value) -> Value:
        with torch.autograd.set_multithreading_enabled(False):
            return plain(*args, **kwargs)

    graph._engine_run_backward = run  # noqa: SLF001
    torch.autograd._engine_run_backward = run  # noqa: SLF001


def refuse_data_parallel(session: Session) -> None:
    """``DataParallel`` ends in an error that names what to use."""
    plain = torch.nn.DataParallel.forward

    def forward(self: Value, *args: Value, **kwargs: Value) -> Value:
        first = next(iter(self.module.parameters()), None)
        if first is None or first.device.type != BACKEND:
            return plain(self, *args, **kwargs)
        message = (
            "torch.nn.DataParallel is not supported on NPU devices: use torch.nn.parallel.DistributedDataParallel, "
            "one process a device."
        )
        session.note("unsupported", message)
        raise NotImplementedError(message)

    torch.nn.DataParallel.forward = forward


def refuse_graphs(session: Session) -> None:
    """Capturing a graph records launches on the device, of which there are none: a replay would compute nothing."""
    for name in words("NPUGraph graph make_graphed_callables graph_pool_handle"):
        for owner in (torch.npu, getattr(torch.npu, "graphs", None)):
            if hasattr(owner, name):
                setattr(owner, name, stand_in(f"torch_npu.npu.{name}", session))


def _teach_accelerator() -> None:
    """``torch.accelerator`` asks the guard, which knows one device and no streams."""
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    replaced: dict[str, Callable[..., Value]] = {
        "device_count": lambda: device.machine.count,
        "current_device_index": device.current,
        "current_device_idx": device.current,
        "set_device_index": lambda place: device.select(device.index_of(place)),
        "set_device_idx": lambda place: device.select(device.index_of(place)),
        "current_stream": streams.current_stream,
        "set_stream": streams.set_stream,
        "synchronize": _synchronize,
    }
    for name, function in replaced.items():
        if hasattr(accelerator, name):
            setattr(accelerator, name, function)
    _teach_accelerator_memory(accelerator)


def _synchronize(place: Value = None) -> None:
    device.index_of(place)


def _teach_accelerator_memory(accelerator: Value) -> None:
    module = getattr(accelerator, "memory", None)
    if not isinstance(module, types.ModuleType):
        return
    names = words(
        "empty_cache memory_stats memory_allocated max_memory_allocated memory_reserved max_memory_reserved "
        "reset_accumulated_memory_stats reset_peak_memory_stats"
    )
    for name in names:
        for owner in (module, accelerator):
            if hasattr(owner, name):
                setattr(owner, name, _of_npu(name))


def _of_npu(name: str) -> Callable[..., Value]:
    def call(*args: Value) -> Value:
        return getattr(torch.npu, name)(*args)

    return call
