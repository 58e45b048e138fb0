"""What ``torch.npu`` offers: devices, memory, settings."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Callable

import torch

from npu_migrate.rehearse import device, memory, storage, streams
from npu_migrate.rehearse.interface import BACKEND, Value
from npu_migrate.rehearse.words import words

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session
    from npu_migrate.rehearse.random import Randomness

CHIP = "Ascend910B3"
_CUBE_CORES, _VECTOR_CORES, _CACHE = 20, 40, 192 << 20


def nothing(*_args: Value, **_kwargs: Value) -> None:
    """A setting that has no meaning without hardware."""


def always(value: Value) -> Callable[..., Value]:
    """A question with one answer here."""

    def answer(*_args: Value, **_kwargs: Value) -> Value:
        return value

    return answer


def _index(place: Value = None) -> int:
    device.start()
    return device.index_of(place)


def table(session: Session, randomness: Randomness) -> dict[str, Value]:
    """Every implementation by its name in ``torch.npu``."""
    return {
        **_devices(session),
        **_memory(),
        **_random(randomness),
        **_streams(),
        **_settings(),
        **storage.legacy_types(),
    }


def _devices(session: Session) -> dict[str, Value]:
    def synchronize(device: Value = None) -> None:
        _index(device)
        session.note("sync", "torch.npu.synchronize")

    return {
        "is_available": lambda: device.machine.count > 0,
        "device_count": lambda: device.machine.count,
        "current_device": _index,
        "set_device": lambda device_: device.select(_index(device_)),
        "synchronize": synchronize,
        "is_initialized": lambda: device.machine.initialized and not device.machine.in_bad_fork,
        "init": device.start,
        "_lazy_init": device.start,
        "_is_in_bad_fork": lambda: device.machine.in_bad_fork,
        "_get_device_index": lambda place, optional=None, allow_cpu=None: _index(place),  # noqa: ARG005
        "_exchange_device": _exchange,
        "_maybe_exchange_device": _exchange,
        "get_device_name": _name,
        "get_device_properties": _properties,
        "get_device_capability": always(None),
        "get_soc_version": always(223),
        "can_device_access_peer": lambda device_id, peer: device.check(device_id) != device.check(peer),
        "utilization": always(0),
        "ipc_collect": nothing,
        "device": streams.DeviceContext,
        "device_of": streams.DeviceOf,
    }


def _exchange(index: int) -> int:
    before = device.current()
    if index >= 0:
        device.select(index)
    return before


def _name(device_name: Value = None) -> str:
    _index(device_name)
    return CHIP


def _properties(device_name: Value = None) -> types.SimpleNamespace:
    _index(device_name)
    return types.SimpleNamespace(
        name=CHIP,
        total_memory=memory.TOTAL,
        cube_core_num=_CUBE_CORES,
        vector_core_num=_VECTOR_CORES,
        L2_cache_size=_CACHE,
    )


def _memory() -> dict[str, Value]:
    def of(place: Value = None) -> memory.Account:
        return memory.account(_index(place))

    def trim() -> None:
        for account in memory.accounts.values():
            account.trim()

    def set_fraction(fraction: float, device: Value = None) -> None:
        if not isinstance(fraction, float) or not 0 <= fraction <= 1:
            message = f"Invalid fraction value: {fraction}. Allowed range: 0~1"
            raise (TypeError if not isinstance(fraction, float) else ValueError)(message)
        of(device).fraction = fraction

    def free_and_total(device: Value = None) -> tuple[int, int]:
        return memory.TOTAL - of(device).reserved, memory.TOTAL

    reset_peak = {name: lambda device=None: of(device).reset_peak() for name in _RESETS}
    return {
        **reset_peak,
        "memory_allocated": lambda device=None: of(device).allocated,
        "max_memory_allocated": lambda device=None: of(device).peak,
        "memory_reserved": lambda device=None: of(device).reserved,
        "memory_cached": lambda device=None: of(device).reserved,
        "max_memory_reserved": lambda device=None: of(device).peak_reserved,
        "max_memory_cached": lambda device=None: of(device).peak_reserved,
        "memory_stats": lambda device=None: _statistics(of(device)),
        "memory_summary": lambda device=None, abbreviated=None: _summary(of(device)),  # noqa: ARG005
        "memory_snapshot": always([]),
        "mem_get_info": free_and_total,
        "empty_cache": trim,
        "empty_virt_addr_cache": nothing,
        "reset_accumulated_memory_stats": nothing,
        "set_per_process_memory_fraction": set_fraction,
        "get_per_process_memory_fraction": lambda device=None: of(device).fraction,
        "get_allocator_backend": always("native"),
    }


_RESETS = ("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached")


def _statistics(account: memory.Account) -> dict[str, int]:
    return {
        "allocated_bytes.all.current": account.allocated,
        "allocated_bytes.all.peak": account.peak,
        "reserved_bytes.all.current": account.reserved,
        "reserved_bytes.all.peak": account.peak_reserved,
        "active_bytes.all.current": account.allocated,
        "active_bytes.all.peak": account.peak,
        "allocation.all.current": account.blocks,
        "allocation.all.allocated": account.allocations,
        "num_alloc_retries": 0,
        "num_ooms": 0,
    }


def _summary(account: memory.Account) -> str:
    lines = [f"{name:<32}{value:>16}" for name, value in _statistics(account).items()]
    return "\n".join(["simulated NPU memory, bytes", *lines])


def _random(randomness: Randomness) -> dict[str, Value]:
    names = words(
        "manual_seed manual_seed_all seed seed_all initial_seed get_rng_state set_rng_state get_rng_state_all "
        "set_rng_state_all"
    )
    return {"default_generators": randomness.generators, **{name: getattr(randomness, name) for name in names}}


def _streams() -> dict[str, Value]:
    return {
        "Stream": streams.Stream,
        "Event": streams.Event,
        "StreamContext": streams.StreamContext,
        "stream": streams.StreamContext,
        "current_stream": streams.current_stream,
        "default_stream": streams.default_stream,
        "set_stream": streams.set_stream,
        "is_current_stream_capturing": always(False),  # noqa: FBT003  (an answer, not a switch)
    }


def _settings() -> dict[str, Value]:
    quiet = words(
        "set_compile_mode set_option set_aoe set_dump init_dump finalize_dump set_mm_bmm_format_nd set_op_timeout_ms "
        "set_sync_debug_mode set_task_queue_enable enable_deterministic_with_backward set_deterministic_level "
        "disable_deterministic_with_backward clear_npu_overflow_flag enable_flash_sdp enable_math_sdp "
        "enable_mem_efficient_sdp use_compatible_impl set_device_limit set_stream_limit reset_stream_limit"
    )
    return {
        **dict.fromkeys(quiet, nothing),
        "get_amp_supported_dtype": always([torch.float16, torch.bfloat16, torch.float32]),
        "is_bf16_supported": always(True),  # noqa: FBT003
        "is_jit_compile_false": always(True),  # noqa: FBT003
        "get_mm_bmm_format_nd": always(True),  # noqa: FBT003
        "get_npu_overflow_flag": always(False),  # noqa: FBT003
        "get_sync_debug_mode": always(0),
        "get_task_queue_enable": always(1),
        "is_autocast_enabled": lambda: torch.is_autocast_enabled(BACKEND),
        "set_autocast_enabled": lambda enabled: torch.set_autocast_enabled(BACKEND, enabled),
        "get_autocast_dtype": lambda: torch.get_autocast_dtype(BACKEND),
        "set_autocast_dtype": lambda dtype: torch.set_autocast_dtype(BACKEND, dtype),
        "config": types.SimpleNamespace(allow_internal_format=False),
        "matmul": types.SimpleNamespace(
            allow_hf32=False,
            allow_fp16_reduced_precision_reduction=True,
            allow_bf16_reduced_precision_reduction=True,
        ),
        "conv": types.SimpleNamespace(allow_hf32=True),
        "aclnn": types.SimpleNamespace(version=always(None), allow_hf32=True),
        "mstx": types.SimpleNamespace(mark=nothing, range_start=always(0), range_end=nothing),
        "sdp_kernel": torch.nn.attention.sdpa_kernel,
    }
