"""Streams and events of the simulated NPU: everything is done when it is asked for, so they only keep order."""

from __future__ import annotations

import itertools
import threading
import time

import torch

from npu_migrate.rehearse import device
from npu_migrate.rehearse.interface import BACKEND, Value

_numbers = itertools.count(1)
_DEVICE_TYPE = 20  # PrivateUse1 among torch's device types
_local = threading.local()


class Stream(torch.Stream):  # type: ignore[misc]
    """``torch.npu.Stream``."""

    def __new__(cls, device: Value = None, priority: int = 0, **given: Value) -> Value:
        """Make a queue on a device."""
        number = given.get("stream_id", next(_numbers))
        index = given.get("device_index", _index(device))
        made = super().__new__(cls, stream_id=number, device_index=index, device_type=_DEVICE_TYPE)
        made.priority = priority
        return made

    def __init__(self, *_args: Value, **_given: Value) -> None:
        """Nothing is left to do."""

    @property
    def npu_stream(self) -> int:
        """The handle of the queue."""
        return int(self.stream_id)

    def synchronize(self) -> None:
        """Wait for all work; there is none left."""

    def wait_stream(self, stream: Value) -> None:
        """Wait for another stream."""

    def wait_event(self, event: Value) -> None:
        """Wait for an event."""

    def record_event(self, event: Value = None) -> Value:
        """Record an event on this stream."""
        event = Event() if event is None else event
        event.record(self)
        return event

    @staticmethod
    def query() -> bool:
        """Whether all work is done."""
        return True

    def __eq__(self, other: object) -> bool:
        """Streams are equal when they are the same queue of the same device."""
        if not isinstance(other, Stream):
            return NotImplemented
        return bool(other.stream_id == self.stream_id and other.device_index == self.device_index)

    def __hash__(self) -> int:
        """Agrees with equality."""
        return hash((self.stream_id, self.device_index))

    def __repr__(self) -> str:
        """As torch_npu prints it."""
        return f"<torch_npu.npu.Stream device={self.device} npu_stream={self.npu_stream:#x}>"

    def __enter__(self) -> Value:
        """A stream is a context itself in newer torch."""
        self._context = StreamContext(self)
        self._context.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        """Back to the stream before."""
        self._context.__exit__(*problem)


class Event:
    """``torch.npu.Event``."""

    def __init__(self, enable_timing: Value = None, **_given: Value) -> None:
        """Make an event that has not happened."""
        self.enable_timing = bool(enable_timing)
        self.recorded: float | None = None
        self.device = torch.device(BACKEND, device.current())
        self.npu_event = next(_numbers)

    def record(self, stream: Value = None) -> None:  # noqa: ARG002  (torch's signature)
        """Note the time."""
        self.recorded = time.perf_counter()

    def wait(self, stream: Value = None) -> None:
        """Make a stream wait for this event."""

    def synchronize(self) -> None:
        """Wait until the event has happened."""

    @staticmethod
    def query() -> bool:
        """Whether the event has happened."""
        return True

    def elapsed_time(self, end_event: Value) -> float:
        """Milliseconds between two events; both need ``enable_timing``."""
        if not (self.enable_timing and end_event.enable_timing):
            message = "Both events must be created with argument 'enable_timing=True'."
            raise ValueError(message)
        if self.recorded is None or end_event.recorded is None:
            message = "Both events must be recorded before calculating elapsed time."
            raise ValueError(message)
        return float(end_event.recorded - self.recorded) * 1e3


class StreamContext:
    """``with torch.npu.stream(s)``; None changes nothing."""

    def __init__(self, stream: Value) -> None:
        """Take the stream."""
        self.stream = stream

    def __enter__(self) -> Value:
        """Make the stream current on its device, and its device current."""
        if self.stream is not None:
            self._before = device.current()
            self._stream_before = current_stream(self.stream.device_index)
            device.select(self.stream.device_index)
            set_stream(self.stream)
        return self.stream

    def __exit__(self, *problem: object) -> None:
        """Put both back."""
        if self.stream is not None:
            set_stream(self._stream_before)
            device.select(self._before)


class DeviceContext:
    """``with torch.npu.device(1)``."""

    def __init__(self, device: Value) -> None:
        """Take the device."""
        self.idx = _index(device)

    def __enter__(self) -> Value:
        """Make the device current."""
        self.prev_idx = device.current()
        device.select(self.idx)
        return self

    def __exit__(self, *problem: object) -> None:
        """Put the device back."""
        device.select(self.prev_idx)


class DeviceOf(DeviceContext):
    """``with torch.npu.device_of(tensor)``; a CPU tensor changes nothing."""

    def __init__(self, obj: Value) -> None:
        """Take the device of a tensor."""
        on_device = obj.device.type == BACKEND
        super().__init__(obj.device.index if on_device else device.current())


def _index(place: Value) -> int:
    device.start()
    return device.index_of(place)


def _streams(kind: str) -> dict[int, Stream]:
    table = getattr(_local, kind, None)
    if table is None:
        table = {}
        setattr(_local, kind, table)
    return table


_defaults: dict[int, Stream] = {}


def default_stream(device: Value = None) -> Stream:
    """The default stream of a device."""
    index = _index(device)
    if index not in _defaults:
        _defaults[index] = Stream(index, stream_id=0)
    return _defaults[index]


def current_stream(device: Value = None) -> Stream:
    """The stream that work goes to."""
    index = _index(device)
    return _streams("current").get(index) or default_stream(index)


def set_stream(stream: Value) -> None:
    """Make a stream current on its device."""
    if stream is not None:
        _streams("current")[stream.device_index] = stream
