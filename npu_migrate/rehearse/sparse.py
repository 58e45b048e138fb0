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

_CARRIED_OUT = frozenset(
    words("""
_coalesce _sparse_broadcast_to _sparse_mask_projection _to_dense _to_sparse _to_sparse_bsc _to_sparse_bsr
_to_sparse_csc _to_sparse_csr abs add any asin asinh atan atanh cat ceil clone conj_physical copy deg2rad div empty_like
erf erfinv expm1 floor floor_divide frac isinf isnan isneginf isposinf log1p max mm mul mv nan_to_num narrow_copy
native_norm neg norm permute pow rad2deg relu resize_as_sparse round sgn sign signbit sin sinh sparse_mask sqrt sub sum
tan tanh threshold_backward trunc unsqueeze zero zeros
""")
)
"""What torch_npu registers for sparse tensors, without overloads and final underscores; it refuses the rest."""

_libraries: list[Value] = []


def register(session: Session) -> None:
    """Give sparse npu tensors their structure, and everything else the executor."""
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(_refusing(catch_all(session, sparse=True), session), SPARSE_KEY)
    aten = torch.library.Library("aten", "IMPL")
    _libraries.extend([everything, aten])
    for name in _STRUCTURE:
        call = find_operator("aten::" + name)
        if call is not None:
            aten.impl(name, _structural(session, "aten::" + name, call), SPARSE_KEY)


def _refusing(carry_out: Callable[..., Value], session: Session) -> Callable[..., Value]:
    def run(call: Value, *args: Value, **kwargs: Value) -> Value:
        full = call._schema.name  # noqa: SLF001  (torch's public schemas are under this name)
        if full.partition("::")[2].rstrip("_") not in _CARRIED_OUT:
            message = f"CAUTION: The operator '{full}' is not currently supported on the NPU backend."
            session.note("unsupported", f"{full} for sparse tensors")
            raise RuntimeError(message)
        return carry_out(call, *args, **kwargs)

    return run


def _structural(session: Session, name: str, call: Value) -> Callable[..., Value]:
    def run(*args: Value, **kwargs: Value) -> Value:
        session.count(name)
        return call.redispatch(SPARSE_CPU_KEYS, *args, **kwargs)

    return run
