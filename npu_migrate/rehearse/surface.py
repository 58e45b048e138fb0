"""Every module of the simulated ``torch_npu`` and what stands in it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Callable

import torch

from npu_migrate.rehearse import npu_api, shim
from npu_migrate.rehearse.interface import BACKEND, Value
from npu_migrate.rehearse.npu_api import always, nothing
from npu_migrate.rehearse.optimizers import table as optimizers

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session
    from npu_migrate.rehearse.random import Randomness


def tables(session: Session, randomness: Randomness, operators: dict[str, Value]) -> dict[str, dict[str, Value]]:
    """Module name to its implementations."""
    npu = npu_api.table(session, randomness)
    amp = _amp()
    return {
        "torch_npu": {"__version__": session.facts.torch_npu, "_autoload": nothing, **operators},
        "torch_npu.version": {"__version__": session.facts.torch_npu},
        "torch_npu.npu": npu,
        "torch_npu.npu.amp": amp,
        "torch_npu.npu.amp.autocast_mode": amp,
        "torch_npu.npu.amp.grad_scaler": amp,
        "torch_npu.npu.amp.common": {"amp_definitely_not_available": always(value=False)},
        "torch_npu.npu.memory": npu,
        "torch_npu.npu.random": npu,
        "torch_npu.npu.streams": npu,
        "torch_npu.npu.utils": npu,
        "torch_npu.npu.npu_config": npu,
        "torch_npu.npu.backends": npu,
        "torch_npu.optim": optimizers(),
        "torch_npu.profiler": _profiler(session),
        "torch_npu.distributed": {"is_hccl_available": always(value=True), "is_available": always(value=True)},
        "torch_npu.contrib": _contrib(),
        "torch_npu.contrib.module": _contrib(),
        "torch_npu.contrib.function": _contrib(),
        "torch_npu.contrib.transfer_to_npu": {"_on_import": functools.partial(shim.transfer, session)},
        "torch_npu.utils": {"get_cann_version": always(session.facts.cann)},
        "torch_npu.dynamo": {"get_npu_backend": always("aot_eager")},
    }


class GradScaler(torch.amp.GradScaler):  # type: ignore[misc]
    """``torch_npu.npu.amp.GradScaler``."""

    def __init__(self, *args: Value, **kwargs: Value) -> None:
        """Scale on npu; ``dynamic`` is torch_npu's own option."""
        dynamic = kwargs.pop("dynamic", None)
        super().__init__(BACKEND, *args, **kwargs)
        self.dynamic = dynamic is not False


class autocast(torch.autocast):  # type: ignore[misc]  # noqa: N801  (torch's name)
    """``torch_npu.npu.amp.autocast``."""

    def __init__(self, enabled: Value = None, dtype: Value = torch.float16, cache_enabled: Value = None) -> None:
        """Cast on npu."""
        super().__init__(BACKEND, dtype=dtype, enabled=enabled is not False, cache_enabled=cache_enabled is not False)


def _amp() -> dict[str, Value]:
    return {
        "GradScaler": GradScaler,
        "autocast": autocast,
        "custom_fwd": functools.partial(torch.amp.custom_fwd, device_type=BACKEND),
        "custom_bwd": functools.partial(torch.amp.custom_bwd, device_type=BACKEND),
    }


class _Choice:
    """A group of named constants."""

    def __init__(self, *names: str) -> None:
        for name in names:
            setattr(self, name, name)


class _SilentProfile:
    """A profiler that measures nothing: there is no device to measure."""

    def __init__(self, *_args: Value, **_kwargs: Value) -> None:
        """Takes whatever the real one takes."""

    def __enter__(self) -> Value:
        """Begin."""
        return self

    def __exit__(self, *problem: object) -> None:
        """End."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        """``step``, ``start``, ``stop``, ``export_chrome_trace`` and the like do nothing."""
        if name.startswith("_"):
            raise AttributeError(name)
        return nothing


def _profiler(session: Session) -> dict[str, Value]:
    def profile(*args: Value, **kwargs: Value) -> Value:
        session.journal.note("advice", "torch_npu.profiler records nothing in a rehearsal")
        return _SilentProfile(*args, **kwargs)

    return {
        "profile": profile,
        "schedule": always(None),
        "tensorboard_trace_handler": always(nothing),
        "ProfilerActivity": _Choice("CPU", "NPU"),
        "ProfilerAction": _Choice("NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"),
        "ProfilerLevel": _Choice("Level0", "Level1", "Level2", "Level_none"),
        "ExportType": _Choice("Db", "Text"),
        "AiCMetrics": _Choice(
            "PipeUtilization", "ArithmeticUtilization", "Memory", "MemoryL0", "MemoryUB", "ResourceConflictRatio"
        ),
        "_ExperimentalConfig": _SilentProfile,
        "supported_activities": always({"CPU", "NPU"}),
    }


def _contrib() -> dict[str, Value]:
    return {"SiLU": torch.nn.SiLU, "Swish": torch.nn.SiLU, "Mish": torch.nn.Mish}
