"""``torch_npu.contrib.transfer_to_npu``: CUDA names mean NPU from here on."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import TYPE_CHECKING, Callable

import torch

from npu_migrate.rehearse.interface import BACKEND, Value
from npu_migrate.rehearse.words import words

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session

_FACTORIES = words("""
logspace randint hann_window rand full_like ones_like rand_like randperm arange frombuffer normal empty_strided
empty_like scalar_tensor tril_indices bartlett_window ones sparse_coo_tensor randn kaiser_window tensor triu_indices
as_tensor zeros randint_like full eye empty blackman_window zeros_like range sparse_csr_tensor randn_like from_file
linspace hamming_window load set_default_device get_device_module sparse_compressed_tensor
""")
_METHODS = words("new_empty new_empty_strided new_full new_ones new_tensor new_zeros to pin_memory")
_DEVICE_ARGUMENTS = ("device", "device_type", "map_location", "device_id")
_SCRIPTING = (
    "torch.jit.script and torch.jit.script_method will be disabled by transfer_to_npu, which currently does not "
    "support them. If you need to enable them, please do not use transfer_to_npu."
)
_done: list[bool] = []


def transfer(session: Session) -> None:
    """Apply the patches, once."""
    if _done:
        return
    _done.append(True)
    session.note("advice", "transfer_to_npu is in use: torch.jit.script does nothing, unpatched calls stay on CUDA")
    warnings.warn(_SCRIPTING, RuntimeWarning, stacklevel=2)
    torch.jit.script = lambda given, *_args, **_kwargs: given
    torch.jit.script_method = lambda given: given
    _redirect_module(torch.cuda, torch.npu)
    _redirect_module(torch.cuda.amp, torch.npu.amp)
    for name in _FACTORIES:
        _wrap(torch, name)
    for name in _METHODS:
        _wrap(torch.Tensor, name)
    for name in ("to", "to_empty"):
        _wrap(torch.nn.Module, name)
    torch.Tensor.cuda, torch.nn.Module.cuda = torch.Tensor.npu, torch.nn.Module.npu
    torch.Tensor.is_cuda = torch.Tensor.is_npu
    _wrap(torch.autocast, "__init__")
    _wrap(torch.amp.GradScaler, "__init__")
    if torch.distributed.is_available():
        _wrap(torch.distributed, "init_process_group", _as_hccl)
        _wrap(torch.distributed, "new_group", _as_hccl)
        torch.distributed.is_nccl_available = torch.distributed.is_hccl_available


def _redirect_module(cuda: Value, npu: Value) -> None:
    names = [name for name in dir(cuda) if not name.startswith("__") and name not in _KEPT]
    parts = npu.__dict__["_parts"] if "_parts" in npu.__dict__ else vars(npu)
    for name in names:
        if name in parts and not isinstance(parts[name], type(sys)):
            setattr(cuda, name, getattr(npu, name))


_KEPT = frozenset({"_session", "_parts"})


def as_npu(value: Value, *, ints: bool = False) -> Value:
    """A device argument, or something that holds one, with npu in the place of cuda."""
    if isinstance(value, str):
        return value.replace("cuda", BACKEND)
    if isinstance(value, torch.device):
        return torch.device(BACKEND, value.index) if value.type == "cuda" and value.index is not None else _bare(value)
    if isinstance(value, dict):
        return {as_npu(key): as_npu(part) for key, part in value.items()}
    if ints and isinstance(value, int) and not isinstance(value, bool):
        return f"{BACKEND}:{value}"
    return value


def _bare(value: Value) -> Value:
    return torch.device(BACKEND) if value.type == "cuda" else value


def _as_hccl(value: Value, *, ints: bool = False) -> Value:  # noqa: ARG001  (one signature with `as_npu`)
    return value.replace("nccl", "hccl").replace("cuda", BACKEND) if isinstance(value, str) else value


def _wrap(owner: Value, name: str, change: Callable[..., Value] = as_npu) -> None:
    plain = getattr(owner, name, None)
    if plain is None:
        return
    ints = name in {"to", "to_empty"}
    named = ("backend",) if change is _as_hccl else _DEVICE_ARGUMENTS

    @functools.wraps(plain)
    def wrapped(*args: Value, **kwargs: Value) -> Value:
        for key in named:
            if kwargs.get(key) is not None:
                kwargs[key] = change(kwargs[key], ints=True)
        return plain(*[_positional(value, change, ints=ints) for value in args], **kwargs)

    setattr(owner, name, wrapped)


def _positional(value: Value, change: Callable[..., Value], *, ints: bool) -> Value:
    return change(value, ints=ints) if isinstance(value, (str, torch.device, dict, int)) else value
