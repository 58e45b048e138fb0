"""The ``hccl`` process group: gloo over host memory, refusing what hccl refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.distributed as dist

from npu_migrate.rehearse import memory
from npu_migrate.rehearse.interface import BACKEND, Value
from npu_migrate.rehearse.words import words

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session

_UNFIT = frozenset({torch.bool, torch.uint8, torch.float64, torch.complex64, torch.complex128})


def lower(value: Value) -> Value:
    """Npu tensors, alone or in lists, as CPU tensors over the same bytes."""
    if isinstance(value, torch.Tensor):
        return memory.alias(value) if value.device.type == BACKEND else value
    if isinstance(value, (list, tuple)):
        return [lower(part) for part in value]
    return value


def _check_reduction(tensors: Value, session: Session) -> None:
    for tensor in tensors if isinstance(tensors, (list, tuple)) else [tensors]:
        if isinstance(tensor, (list, tuple)):
            _check_reduction(tensor, session)
        elif tensor.dtype in _UNFIT:
            message = f"HCCL reduce: unsupported data type {str(tensor.dtype)[6:]}."
            session.note("dtype", message)
            raise RuntimeError(message)


def register(session: Session) -> None:
    """Make ``init_process_group("hccl")`` work."""
    if not dist.is_available():
        return
    from torch._C._distributed_c10d import ProcessGroupGloo  # noqa: PLC0415  (absent in some builds)

    class HcclGroup(dist.ProcessGroup):  # type: ignore[misc]
        """One group; every call goes to gloo on aliases."""

        def __init__(self, store: Value, rank: int, size: int, timeout: Value) -> None:
            super().__init__(rank, size)
            self._gloo = ProcessGroupGloo(store, rank, size, timeout)
            self._place = (rank, size)

        def getBackendName(self) -> str:  # noqa: N802  (torch's name)
            return "hccl"

        def rank(self) -> int:
            return self._place[0]

        def size(self) -> int:
            return self._place[1]

        def barrier(self, *_args: Value, **_kwargs: Value) -> Value:
            return _forward("barrier")(self)

    for name in _PLAIN:
        setattr(HcclGroup, name, _forward(name))
    for name in _REDUCING:
        setattr(HcclGroup, name, _forward(name, session))
    for name, older in _RENAMED.items():
        setattr(HcclGroup, name, getattr(HcclGroup, older))
    dist.Backend.register_backend("hccl", HcclGroup, devices=[BACKEND])
    dist.is_hccl_available = lambda: True


def replace(session: Session) -> None:
    """Take the place of the process group that a real torch_npu registered."""
    backend = dist.Backend
    for name in [name for name in backend._plugins if name.lower() == "hccl"]:  # noqa: SLF001  (no way to unregister)
        del backend._plugins[name]  # noqa: SLF001
    if hasattr(backend, "HCCL"):
        del backend.HCCL
    backend.backend_list = [name for name in backend.backend_list if name != "hccl"]
    register(session)


_PLAIN = words(
    "broadcast allgather _allgather_base allgather_into_tensor_coalesced allgather_coalesced send recv recv_anysource "
    "gather scatter alltoall alltoall_base"
)
_REDUCING = words(
    "allreduce allreduce_coalesced reduce reduce_scatter _reduce_scatter_base reduce_scatter_tensor_coalesced"
)
_FLAT = frozenset({"_allgather_base", "_reduce_scatter_base"})
_RENAMED = {
    "all_gather_single": "_allgather_base",
    "all_gather_single_coalesced": "allgather_into_tensor_coalesced",
    "all_to_all_single": "alltoall_base",
    "reduce_scatter_single": "_reduce_scatter_base",
    "reduce_scatter_single_coalesced": "reduce_scatter_tensor_coalesced",
}
"""Names of torch 2.13 and later for what gloo has under the older ones."""


def _forward(name: str, session: Session | None = None) -> Value:
    def collective(self: Value, *args: Value, **kwargs: Value) -> Value:
        if session is not None:
            _check_reduction(args[0], session)
        given = {key: lower(value) for key, value in kwargs.items()}
        lowered = [lower(value) for value in args]
        if name in _FLAT:  # gloo cuts along the first dimension, hccl takes the elements as they lie
            lowered[:2] = [tensor.reshape(-1) if tensor.is_contiguous() else tensor for tensor in lowered[:2]]
        return getattr(self._gloo, name)(*lowered, **given)

    collective.__name__ = name
    return collective
