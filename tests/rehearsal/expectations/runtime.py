"""``torch.npu`` and ``torch_npu``: names, streams, events, memory, settings."""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import importlib.util

import torch
import torch_npu

from expectations.marks import raises


def npu_module_is_torch_npu_npu():
    assert torch.npu is torch_npu.npu


def package_is_found_by_name():
    assert importlib.util.find_spec("torch_npu") is not None
    assert importlib.metadata.version("torch_npu") == torch_npu.__version__


def modules_can_be_imported():
    for name in ("torch_npu.npu", "torch_npu.npu.amp", "torch_npu.contrib", "torch_npu.profiler", "torch_npu.optim"):
        assert importlib.import_module(name)


@raises(ModuleNotFoundError)
def module_from_a_blog():
    importlib.import_module("torch_npu.contrib.amp")


@raises(ModuleNotFoundError)
def quantization_module_from_a_blog():
    importlib.import_module("torch_npu.quantization")


@raises(AttributeError)
def cuda_graph_is_not_there():
    _ = torch.npu.CUDAGraph


@raises(AttributeError)
def nvtx_is_not_there():
    _ = torch.npu.nvtx


@raises(AttributeError)
def cudart_is_not_there():
    _ = torch.npu.cudart


@raises(AttributeError)
def misspelt_name_is_not_there():
    _ = torch.npu.synchronise


@raises(AttributeError)
def fork_rng_is_not_there():
    _ = torch.npu.random.fork_rng


def names_that_ports_use_are_there():
    for name in [
        "synchronize",
        "empty_cache",
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "reset_peak_memory_stats",
        "device_count",
        "current_device",
        "set_device",
        "get_device_name",
        "get_device_properties",
        "manual_seed_all",
        "Stream",
        "Event",
        "current_stream",
        "stream",
        "mem_get_info",
        "is_bf16_supported",
        "set_compile_mode",
        "config",
        "amp",
    ]:
        assert hasattr(torch.npu, name), name


def capability_is_none():
    assert torch.npu.get_device_capability() is None


def properties_name_the_chip():
    properties = torch.npu.get_device_properties(0)
    assert properties.name.startswith("Ascend")
    assert properties.total_memory > 1 << 30
    assert torch.npu.get_device_name(0).startswith("Ascend")


def synchronize_runs():
    torch.npu.synchronize()
    torch.npu.synchronize(0)


def stream_is_current_inside():
    stream = torch.npu.Stream()
    before = torch.npu.current_stream()
    with torch.npu.stream(stream):
        assert torch.npu.current_stream() == stream
        x = torch.ones(2, device="npu") + 1
    assert torch.npu.current_stream() == before
    stream.synchronize()
    assert x.tolist() == [2.0, 2.0]


def streams_wait_for_each_other():
    stream = torch.npu.Stream()
    stream.wait_stream(torch.npu.current_stream())
    event = stream.record_event()
    torch.npu.current_stream().wait_event(event)
    event.synchronize()
    assert stream.query()


def tensor_is_recorded_on_a_stream():
    torch.ones(2).npu().record_stream(torch.npu.current_stream())


def events_measure_time():
    start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    start.record()
    torch.ones(10).npu().sum()
    end.record()
    torch.npu.synchronize()
    assert start.elapsed_time(end) >= 0


@raises((RuntimeError, ValueError))
def events_without_timing():
    start, end = torch.npu.Event(), torch.npu.Event()
    start.record()
    end.record()
    start.elapsed_time(end)


def memory_grows_and_shrinks():
    gc.collect()
    before = torch.npu.memory_allocated()
    x = torch.zeros(1 << 20, device="npu")
    assert torch.npu.memory_allocated() - before >= 4 << 20
    del x
    assert torch.npu.memory_allocated() == before


def view_takes_no_memory():
    x = torch.zeros(1 << 20, device="npu")
    before = torch.npu.memory_allocated()
    y = x.view(1 << 10, 1 << 10)[1:]
    assert torch.npu.memory_allocated() == before
    assert y.shape == (1023, 1024)


def peak_is_remembered_and_reset():
    torch.npu.reset_peak_memory_stats()
    base = torch.npu.max_memory_allocated()
    torch.zeros(1 << 20, device="npu")
    assert torch.npu.max_memory_allocated() - base >= 4 << 20
    torch.npu.reset_peak_memory_stats()
    assert torch.npu.max_memory_allocated() == torch.npu.memory_allocated()


def cache_is_kept_and_emptied():
    x = torch.zeros(8 << 20, device="npu")
    del x
    assert torch.npu.memory_reserved() >= torch.npu.memory_allocated()
    torch.npu.empty_cache()
    assert torch.npu.memory_reserved() - torch.npu.memory_allocated() < 4 << 20


def free_and_total_memory():
    free, total = torch.npu.mem_get_info()
    assert 0 < free <= total


def statistics_have_the_usual_keys():
    stats = torch.npu.memory_stats()
    assert stats["allocated_bytes.all.current"] == torch.npu.memory_allocated()
    assert "reserved_bytes.all.peak" in stats
    assert "total_bytes" not in stats


def memory_of_each_device_is_apart():
    before = torch.npu.memory_allocated(0)
    x = torch.zeros(1 << 20, device="npu:1")
    assert torch.npu.memory_allocated(0) == before
    assert torch.npu.memory_allocated(1) >= x.numel() * 4


def summary_is_text():
    assert isinstance(torch.npu.memory_summary(), str)


def settings_can_be_made():
    torch.npu.set_compile_mode(jit_compile=False)
    torch.npu.config.allow_internal_format = False
    torch.npu.matmul.allow_hf32 = True
    torch.npu.conv.allow_hf32 = False
    assert torch.npu.is_bf16_supported()


def device_module_is_found():
    assert torch.get_device_module("npu") is torch.npu


def hccl_is_available():
    assert torch.distributed.is_hccl_available()


def profiler_runs_silently():
    experimental = torch_npu.profiler._ExperimentalConfig(profiler_level=torch_npu.profiler.ProfilerLevel.Level1)
    assert experimental is not None
    assert torch_npu.profiler.ProfilerActivity.NPU is not None


def profiler_of_torch_runs():
    with torch.profiler.profile() as profile:
        torch.ones(2).npu().sum()
    assert profile.key_averages()


def tensor_of_custom_operator_is_on_the_device():
    assert torch_npu.npu_format_cast(torch.ones(2).npu(), 29).device.type == "npu"
    assert torch_npu.get_npu_format(torch.ones(2).npu()) == 2


@raises((NotImplementedError, RuntimeError))
def custom_operator_refuses_the_host():
    torch_npu.npu_rms_norm(torch.ones(2), torch.ones(2))


@raises(NotImplementedError, "does not carry out torch_npu.npu.NPUGraph")
def graph_is_not_captured():
    torch.npu.NPUGraph()


@raises(NotImplementedError, "does not carry out torch_npu.npu.graph;")
def graph_context_is_not_entered():
    with torch.npu.graph(None):
        torch.ones(2).npu()


@raises(NotImplementedError, "does not carry out torch_npu.npu.make_graphed_callables")
def callables_are_not_graphed():
    torch.npu.make_graphed_callables(torch.nn.Linear(2, 2).npu(), (torch.ones(1, 2).npu(),))


def nothing_is_being_captured():
    assert torch.npu.is_current_stream_capturing() is False
