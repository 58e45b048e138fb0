"""Devices, and tensors of different devices that meet."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from expectations.marks import raises

MIXED = "Expected all tensors to be on the same device"


def _npu(*shape):
    return torch.randn(*shape, device="npu")


def device_string_is_known():
    assert torch.device("npu").type == "npu"
    assert torch.device("npu:1").index == 1
    assert str(torch.device("npu", 2)) == "npu:2"


def tensor_moves_by_method():
    assert torch.ones(2).npu().device == torch.device("npu:0")
    assert torch.ones(2).npu(1).device.index == 1


def tensor_moves_by_string_and_back():
    there = torch.arange(6.0).reshape(2, 3).to("npu:1")
    assert there.device.index == 1
    assert torch.equal(there.cpu(), torch.arange(6.0).reshape(2, 3))


def tensor_knows_its_device():
    x = _npu(2)
    assert x.is_npu
    assert not x.is_cuda
    assert x.get_device() == 0
    assert x.device.type == "npu"


def factories_take_the_device():
    for made in (
        torch.zeros(2, device="npu"),
        torch.ones(2, device="npu"),
        torch.full((2,), 3.0, device="npu"),
        torch.arange(2, device="npu"),
        torch.eye(2, device="npu"),
        torch.linspace(0, 1, 2, device="npu"),
        torch.tensor([1.0, 2.0], device="npu"),
        torch.empty(2, device="npu"),
        torch.randint(0, 2, (2,), device="npu"),
        torch.randperm(2, device="npu"),
    ):
        assert made.device == torch.device("npu:0")


def like_factories_follow():
    x = _npu(2, 3)
    assert torch.zeros_like(x).device == x.device
    assert x.new_ones(2).device == x.device
    assert torch.rand_like(x).device == x.device


def set_device_changes_the_default():
    torch.npu.set_device(1)
    try:
        assert torch.npu.current_device() == 1
        assert torch.zeros(1, device="npu").device.index == 1
        assert torch.zeros(1).npu().device.index == 1
    finally:
        torch.npu.set_device(0)


def set_device_takes_string_and_device():
    torch.npu.set_device("npu:1")
    assert torch.npu.current_device() == 1
    torch.npu.set_device(torch.device("npu:0"))
    assert torch.npu.current_device() == 0


def device_context_is_left():
    with torch.npu.device(1):
        assert torch.npu.current_device() == 1
    assert torch.npu.current_device() == 0


def default_device_can_be_npu():
    torch.set_default_device("npu")
    try:
        assert torch.zeros(2).device.type == "npu"
    finally:
        torch.set_default_device(None)


def device_context_manager_of_torch():
    with torch.device("npu"):
        assert torch.zeros(2).device.type == "npu"


@raises(RuntimeError)
def device_beyond_the_last():
    torch.zeros(2, device="npu:63")


@raises(RuntimeError)
def set_device_beyond_the_last():
    torch.npu.set_device(63)


def device_count_is_as_asked():
    assert torch.npu.device_count() == 2
    assert torch.npu.is_available()


def accelerator_is_npu():
    assert torch.accelerator.current_accelerator().type == "npu"
    assert torch.accelerator.is_available()


def cuda_is_not_there():
    assert not torch.cuda.is_available()
    assert torch.cuda.device_count() == 0


@raises((AssertionError, RuntimeError), "CUDA")
def cuda_call_fails():
    torch.ones(2).cuda()


@raises((AssertionError, RuntimeError), "CUDA")
def cuda_string_fails():
    torch.zeros(2, device="cuda")


@raises(RuntimeError, MIXED)
def add_host_tensor():
    _ = _npu(3) + torch.randn(3)


@raises(RuntimeError, MIXED)
def add_to_host_tensor():
    _ = torch.randn(3) + _npu(3)


@raises(RuntimeError, MIXED)
def add_in_place_host_tensor():
    _npu(3).add_(torch.randn(3))


@raises(RuntimeError)
def matrix_product_with_host():
    _ = _npu(2, 3) @ torch.randn(3, 2)


@raises(RuntimeError, MIXED)
def concatenate_with_host():
    torch.cat([_npu(2), torch.randn(2)])


@raises(RuntimeError)
def stack_with_host():
    torch.stack([_npu(2), torch.randn(2)])


@raises(RuntimeError)
def two_devices_meet():
    _ = _npu(3) + torch.randn(3, device="npu:1")


@raises(RuntimeError)
def layer_left_on_host():
    nn.Linear(4, 2)(_npu(3, 4))


@raises(RuntimeError)
def convolution_left_on_host():
    nn.Conv2d(3, 4, 3)(_npu(1, 3, 8, 8))


@raises(RuntimeError)
def data_left_on_host():
    nn.Linear(4, 2).npu()(torch.randn(3, 4))


@raises(RuntimeError)
def target_left_on_host():
    functional.cross_entropy(_npu(3, 4), torch.tensor([0, 1, 2]))


@raises(RuntimeError)
def embedding_index_left_on_host():
    functional.embedding(torch.tensor([1]), _npu(3, 4))


@raises(RuntimeError)
def where_condition_left_on_host():
    torch.where(torch.tensor([True, False]), _npu(2), _npu(2))


def host_scalar_may_meet():
    assert (_npu(3) + torch.tensor(2.0)).device.type == "npu"
    assert (torch.tensor(2.0) * _npu(3)).device.type == "npu"


def host_index_may_select():
    x = _npu(4, 2)
    assert x[torch.tensor([0, 2])].shape == (2, 2)
    assert x[torch.tensor([True, False, True, False])].shape == (2, 2)


def host_scalar_may_be_assigned():
    x = torch.zeros(4, device="npu")
    x[0] = torch.tensor(3.0)
    x[torch.tensor([1, 2])] = 4.0
    assert x.tolist() == [3.0, 4.0, 4.0, 0.0]


@raises(RuntimeError)
def npu_index_on_host_tensor():
    _ = torch.randn(3)[torch.tensor([0], device="npu")]


@raises(TypeError, "Use Tensor.cpu()")
def numpy_of_npu_tensor():
    _npu(2).numpy()


@raises(TypeError)
def asarray_of_npu_tensor():
    np.asarray(_npu(2))


def numpy_after_cpu():
    assert _npu(2, 3).cpu().numpy().shape == (2, 3)


def copy_between_host_and_device():
    x = torch.empty(3, device="npu")
    x.copy_(torch.arange(3.0))
    back = torch.empty(3)
    back.copy_(x)
    assert back.tolist() == [0.0, 1.0, 2.0]


def copy_between_devices():
    x = torch.arange(3.0, device="npu:0")
    assert x.to("npu:1").tolist() == [0.0, 1.0, 2.0]


def pinned_memory_moves_without_waiting():
    x = torch.randn(4).pin_memory()
    assert x.is_pinned()
    assert torch.equal(x.to("npu", non_blocking=True).cpu(), x)


@raises(RuntimeError)
def pin_device_memory():
    _npu(2).pin_memory()


def module_moves_as_a_whole():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).npu()
    assert {value.device.type for value in model.state_dict().values()} == {"npu"}
    model.cpu()
    assert {value.device.type for value in model.state_dict().values()} == {"cpu"}


def module_moves_by_number():
    assert nn.Linear(2, 2).npu(1).weight.device.index == 1


@raises(TypeError)
def module_does_not_move_by_device_object():
    nn.Linear(2, 2).npu(torch.device("npu:1"))


def tied_weights_stay_tied():
    model = nn.ModuleList([nn.Embedding(4, 3), nn.Linear(3, 4, bias=False)])
    model[1].weight = model[0].weight
    model.to("npu")
    assert model[1].weight is model[0].weight
    assert model[1].weight.device.type == "npu"


def named_type_of_a_tensor():
    assert torch.ones(2).npu().type() == "torch.npu.FloatTensor"
    assert torch.ones(2, dtype=torch.int64).npu().type() == "torch.npu.LongTensor"


def old_tensor_types_make_tensors():
    assert torch.npu.FloatTensor(2).device.type == "npu"
    assert torch.npu.LongTensor([1, 2]).dtype is torch.int64
