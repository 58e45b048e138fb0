"""Sparse COO tensors on the simulated NPU: torch's own structure over npu indices and values."""

from __future__ import annotations

from typing import Callable

import torch

from npu_migrate.rehearse.executor import Session, catch_all
from npu_migrate.rehearse.interface import SPARSE_CPU_KEYS, SPARSE_KEY, Value, find_operator
from npu_migrate.rehearse.words import words

_STRUCTURE = words("""
_sparse_coo_tensor_with_dims _sparse_coo_tensor_with_dims_and_tensors _indices _values indices values _nnz sparse_dim
dense_dim _dimI _dimV is_coalesced _coalesced_ sparse_resize_ sparse_resize_and_clear_ copy_ copy_sparse_to_sparse_
empty.memory_format
""")

_libraries: list[Value] = []


def register(session: Session) -> None:
    """Give sparse npu tensors their structure, and everything else the executor."""
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(catch_all(session, sparse=True), SPARSE_KEY)
    aten = torch.library.Library("aten", "IMPL")
    _libraries.extend([everything, aten])
    for name in _STRUCTURE:
        call = find_operator("aten::" + name)
        if call is not None:
            aten.impl(name, _structural(session, "aten::" + name, call), SPARSE_KEY)


def _structural(session: Session, name: str, call: Value) -> Callable[..., Value]:
    def run(*args: Value, **kwargs: Value) -> Value:
        session.count(name)
        return call.redispatch(SPARSE_CPU_KEYS, *args, **kwargs)

    return run
