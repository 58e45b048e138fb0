"""The hccl process group, of two processes."""

from __future__ import annotations

import datetime as dt
import functools
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

TWO = 2


def _port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _join(rank, body, port):
    torch.npu.set_device(rank)
    dist.init_process_group(
        "hccl",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=TWO,
        timeout=dt.timedelta(seconds=60),
    )
    try:
        body(rank)
    finally:
        dist.destroy_process_group()


def _spawn(body):
    mp.spawn(_join, args=(body, _port()), nprocs=TWO)


def _collect(rank):
    x = torch.full((2,), rank + 1.0).npu()
    dist.all_reduce(x)
    assert x.tolist() == [3.0, 3.0]
    y = torch.full((2,), float(rank)).npu()
    dist.broadcast(y, 1)
    assert y.tolist() == [1.0, 1.0]
    parts = [torch.zeros(1).npu() for _ in range(TWO)]
    dist.all_gather(parts, torch.tensor([float(rank)]).npu())
    assert [part.item() for part in parts] == [0.0, 1.0]
    whole = torch.zeros(2).npu()
    dist.all_gather_into_tensor(whole, torch.tensor([float(rank)]).npu())
    assert whole.tolist() == [0.0, 1.0]
    piece = torch.zeros(1).npu()
    dist.reduce_scatter_tensor(piece, torch.tensor([1.0, 2.0]).npu())
    assert piece.item() == TWO * (rank + 1.0)
    objects = [None] * TWO
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": 0}, {"rank": 1}]
    if rank == 0:
        dist.send(torch.ones(1).npu(), 1)
    else:
        got = torch.zeros(1).npu()
        dist.recv(got, 0)
        assert got.item() == 1.0
    dist.barrier()
    assert dist.get_backend() == "hccl"


def collectives_of_two_processes():
    _spawn(_collect)


def _is_refused(kind):
    try:
        dist.all_reduce(torch.ones(2).npu().to(kind))
    except RuntimeError as error:
        return "data type" in str(error)
    return False


def _refuse(_rank):
    assert all(_is_refused(kind) for kind in (torch.bool, torch.uint8, torch.float64))


def reductions_of_some_dtypes_are_refused():
    _spawn(_refuse)


def _data_parallel(rank):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 2)).npu()
    model = DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(model), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        torch.manual_seed(10 * step + rank)
        optimizer.zero_grad()
        model(torch.randn(2, 3, 8, 8).npu()).square().mean().backward()
        optimizer.step()
    total = sum(parameter.sum() for parameter in model.parameters()).detach().reshape(1)
    sums = [torch.zeros_like(total) for _ in range(TWO)]
    dist.all_gather(sums, total)
    assert torch.equal(sums[0], sums[1])


def data_parallel_training_keeps_weights_equal():
    _spawn(_data_parallel)


def _sync_norm(rank):
    torch.manual_seed(0)
    data = torch.randn(4, 3, 5)
    whole = nn.BatchNorm1d(3)
    expected = whole(data)
    layer = nn.SyncBatchNorm(3).npu()
    mine = data[rank * 2 : rank * 2 + 2].npu().requires_grad_()
    ours = layer(mine)
    torch.testing.assert_close(ours.cpu(), expected[rank * 2 : rank * 2 + 2], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(layer.running_var.cpu(), whole.running_var, rtol=1e-4, atol=1e-5)
    weights = torch.randn(4, 3, 5)
    (ours * weights[rank * 2 : rank * 2 + 2].npu()).sum().backward()
    plain = data.clone().requires_grad_()
    (nn.BatchNorm1d(3)(plain) * weights).sum().backward()
    torch.testing.assert_close(mine.grad.cpu(), plain.grad[rank * 2 : rank * 2 + 2], rtol=1e-3, atol=1e-4)


def synchronised_norm_equals_the_whole_batch():
    _spawn(_sync_norm)


def _fully_sharded(rank):
    from torch.distributed.fsdp import FullyShardedDataParallel  # noqa: PLC0415  (only where it is tried)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    plain = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    plain.load_state_dict(model.state_dict())
    model = FullyShardedDataParallel(model.npu(), device_id=rank)
    data = torch.randn(4, 8)
    for network, place in ((model, "npu"), (plain, "cpu")):
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            network(data.to(place)).square().mean().backward()
            optimizer.step()
    torch.testing.assert_close(model(data.npu()).cpu(), plain(data), rtol=1e-4, atol=1e-5)


def fully_sharded_training_equals_plain():
    _spawn(_fully_sharded)


def checkpoint_is_read_by_every_process():
    with tempfile.NamedTemporaryFile(suffix=".pt") as file:
        torch.save(nn.Linear(2, 2).npu().state_dict(), file.name)
        _spawn(functools.partial(_load, file.name))


def _load(path, rank):
    loaded = torch.load(path, map_location={"npu:0": f"npu:{rank}"})
    assert loaded["weight"].device.index == rank


class _Branches(nn.Module):
    """One of two layers is used, by the step."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def forward(self, x, number):
        return self.layers[number](x)


def _unused(rank):
    model = DistributedDataParallel(_Branches().npu(), device_ids=[rank], find_unused_parameters=True)
    for number in (0, 1):
        model.zero_grad()
        model(torch.ones(2, 3).npu(), number).sum().backward()
        assert model.module.layers[number].weight.grad.abs().sum() > 0
    whole = torch.empty(2, 3, 4, 4, memory_format=torch.channels_last)
    assert whole.is_contiguous(memory_format=torch.channels_last)


def _static(rank):
    model = DistributedDataParallel(nn.Linear(3, 3).npu(), device_ids=[rank], static_graph=True)
    for _ in range(2):
        model.zero_grad()
        model(torch.ones(2, 3).npu()).sum().backward()
    assert model.module.weight.grad.device.type == "npu"


def _both(rank):
    _unused(rank)
    _static(rank)


def unused_parameters_are_found():
    _spawn(_both)
