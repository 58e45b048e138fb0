"""Puts the executor under the operators that the real torch_npu registered."""

from __future__ import annotations

import functools
import warnings
from typing import Callable

import torch

from npu_migrate.rehearse import fused, memory
from npu_migrate.rehearse.backend import convolutions
from npu_migrate.rehearse.executor import Operator, Session
from npu_migrate.rehearse.facts import State
from npu_migrate.rehearse.interface import (
    BACKEND,
    CPU,
    KEY,
    Value,
    dispatch_key,
    find_operator,
    has_kernel,
    registrations,
)
from npu_migrate.rehearse.words import words

_LEFT = frozenset(
    "aten::" + name
    for name in words(
        "empty.memory_format empty_strided as_strided as_strided_ view _reshape_alias set_ set_.source_Storage "
        "set_.source_Storage_storage_offset set_.source_Tensor resize_ resize_as_ record_stream is_pinned _pin_memory "
        "is_set_to empty_with_format unsafe_empty_with_format empty_like new_empty_strided unfold view_as_real "
        "view_as_complex alias detach view.dtype"
    )
)
"""Allocation and geometry: torch_npu's own code runs."""

_MEAN, _SUM = 1, 2
_FUSED = ("aten::scaled_dot_product_attention", "aten::lstm", "aten::gru", "aten::_thnn")
"""Where the device would run one kernel of its own and the rehearsal runs torch's pieces."""

_libraries: list[Value] = []


def wrap(cpu: Value, index: int) -> Value:
    """A CPU result in memory that torch_npu allocated."""
    cpu = cpu.resolve_conj().resolve_neg()
    made = torch.empty_strided(cpu.shape, cpu.stride(), dtype=cpu.dtype, device=torch.device(BACKEND, index))
    if cpu.numel():
        memory.alias(made).copy_(cpu)
    return made


def rebind(npu: Value, cpu: Value) -> Value:
    """Another shape and other values for an npu tensor."""
    npu.resize_(cpu.shape)
    memory.alias(npu).copy_(cpu)
    return npu


class Moves:
    """Copies, which torch_npu would hand to the device's engines."""

    def __init__(self, session: Session) -> None:
        """Take the session that counts the calls."""
        self._session = session

    def copy(self, target: Value, source: Value, non_blocking: Value = None) -> Value:
        """``copy_``."""
        self._session.count("aten::copy_")
        from_device, to_device = source.device.type == BACKEND, target.device.type == BACKEND
        if from_device and not to_device and not non_blocking:
            self._session.note("sync", "copy to the host")
        seen = memory.alias(source) if from_device else source
        (memory.alias(target) if to_device else target).copy_(seen)
        return target

    def copy_from(self, source: Value, target: Value, non_blocking: Value = None) -> Value:
        """The same, the other way round."""
        return self.copy(target, source, non_blocking)

    def to_copy(self, tensor: Value, *, dtype: Value = None, device: Value = None, **options: Value) -> Value:
        """``to`` another device or dtype."""
        self._session.count("aten::_to_copy")
        layout = options.get("memory_format")
        seen = memory.alias(tensor) if tensor.device.type == BACKEND else tensor
        result = torch.ops.aten._to_copy.default(seen, dtype=dtype, device=CPU, memory_format=layout)  # noqa: SLF001
        place = tensor.device if device is None else device
        if place.type != BACKEND:
            self._session.note("sync", "copy to the host")
            return result
        return self._session.wrap(result, torch.npu.current_device() if place.index is None else place.index)

    def item(self, tensor: Value) -> Value:
        """``.item()``: waits for the device."""
        self._session.count("aten::_local_scalar_dense")
        self._session.note("sync", ".item()")
        return memory.alias(tensor).item()

    def table(self) -> dict[str, Callable[..., Value]]:
        """Every kernel by the name under ``aten::``."""
        return {
            "copy_": self.copy,
            "_copy_from": self.copy_from,
            "_copy_from_and_resize": self.copy_from,
            "_to_copy": self.to_copy,
            "_local_scalar_dense": self.item,
        }


def register(session: Session) -> None:
    """Replace the kernels that would compute."""
    aten = torch.library.Library("aten", "IMPL")
    _libraries.append(aten)
    own = {**Moves(session).table(), **fused.table(session), **convolutions(session)}
    registered = set(registrations(KEY))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch remarks on every override; these are meant
        for name, kernel in own.items():
            aten.impl(name, kernel, KEY, allow_override=True)
        for full in sorted((registered | _falling_back()) - _LEFT):
            name = full.partition("::")[2]
            call = find_operator(full) if full.startswith("aten::") else None
            if call is not None and name not in own:
                aten.impl(name, Operator(call, session), KEY, allow_override=True)
        _decompose(aten, session)
        loss = functools.partial(_binary_cross_entropy, session)
        aten.impl("binary_cross_entropy_with_logits", loss, "AutogradPrivateUse1", allow_override=True)


def _falling_back() -> set[str]:
    """Operators that torch_npu would hand to the CPU in its own catch-all, where nobody could count them."""
    explicit = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
    return {
        name
        for name in registrations("CPU")
        if name.startswith("aten::") and not any(has_kernel(name, kind) for kind in explicit)
    }


def _decompose(aten: Value, session: Session) -> None:
    """Where torch_npu's autograd would call its own kernels directly, use torch's decomposition."""
    for full in registrations("AutogradPrivateUse1"):
        call = find_operator(full) if full.startswith("aten::") else None
        if call is not None and has_kernel(full, "CompositeImplicitAutograd"):
            kernel = functools.partial(_decomposed, session, full, call)
            aten.impl(full.partition("::")[2], kernel, "AutogradPrivateUse1", allow_override=True)


def _binary_cross_entropy(  # noqa: PLR0913, PLR0917  (torch's signature)
    session: Session,
    logits: Value,
    target: Value,
    weight: Value = None,
    pos_weight: Value = None,
    reduction: int = _MEAN,
) -> Value:
    """Torch's formula; the backward of torch_npu's own would call a kernel directly."""
    session.count("aten::binary_cross_entropy_with_logits", State.EMULATED)
    scale = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = (1 - target) * logits - scale * torch.nn.functional.logsigmoid(logits)
    loss = loss if weight is None else loss * weight
    if reduction == _MEAN:
        return loss.mean()
    return loss.sum() if reduction == _SUM else loss


def _decomposed(session: Session, full: str, call: Value, *args: Value, **kwargs: Value) -> Value:
    session.count(full, State.EMULATED if full.startswith(_FUSED) else State.DECOMPOSED)
    return call._op_dk(dispatch_key.CompositeImplicitAutograd, *args, **kwargs)  # noqa: SLF001  (torch's own way)
