"""Sparse tensors, memory formats, storages."""

from __future__ import annotations

import torch
from torch import nn

from expectations.marks import raises


def channels_last_is_kept():
    x = torch.randn(2, 3, 4, 4).npu().to(memory_format=torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last)
    assert nn.ReLU()(x).is_contiguous(memory_format=torch.channels_last)


@raises(RuntimeError, "not currently supported on the NPU backend")
def sparse_matrix_product():
    sparse = torch.eye(3).to_sparse().npu()
    assert sparse.is_sparse
    torch.sparse.mm(sparse, torch.ones(3, 2).npu())


def sparse_round_trip():
    sparse = torch.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse().npu()
    assert sparse.to_dense().tolist() == [[0.0, 2.0], [0.0, 0.0]]
    assert sparse.cpu().device.type == "cpu"


def sparse_gradient_of_embedding():
    layer = nn.Embedding(5, 3, sparse=True).npu()
    layer(torch.tensor([1, 1, 2]).npu()).sum().backward()
    assert layer.weight.grad.is_sparse


def storage_is_made_on_the_device():
    storage = torch.UntypedStorage(16, device="npu")
    assert storage.device == torch.device("npu:0")
    assert storage.nbytes() == 16
    assert torch.arange(3).npu().untyped_storage().cpu().device.type == "cpu"


def sparse_sum_and_scaling():
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    made = dense.npu().to_sparse()
    assert made.is_sparse
    assert made.coalesce().values().cpu().tolist() == [2.0, 3.0]
    assert (made * 2).to_dense().cpu().tolist() == (dense * 2).tolist()
