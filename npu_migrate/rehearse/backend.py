"""Registers the simulated NPU with torch: kernels, fallback, convolutions."""

from __future__ import annotations

import warnings
from typing import Callable

import torch

from npu_migrate.rehearse import fused
from npu_migrate.rehearse.executor import Operator, Session, catch_all
from npu_migrate.rehearse.facts import State
from npu_migrate.rehearse.interface import KEY, Value, all_operators, find_operator, has_kernel
from npu_migrate.rehearse.kernels import Convolutions, Kernels
from npu_migrate.rehearse.words import words

_DERIVED = frozenset(
    words(
        "_to_copy empty_like new_empty_strided resize_as_ as_strided_ index_copy convolution_overrideable "
        "convolution_backward_overrideable"
    )
)
"""Registered by torch_npu, but torch's own kernel over ours does the same."""

_libraries: list[Value] = []


def register(session: Session) -> None:
    """Give every operator that reaches an npu tensor its kernel."""
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(catch_all(session), KEY)
    aten = torch.library.Library("aten", "IMPL")
    _libraries.extend([everything, aten])
    own = Kernels(session).table()
    own.update(convolutions(session))
    own.update(fused.table(session))
    for name, kernel in own.items():
        aten.impl(name, kernel, KEY)
    for full in session.facts.registered(_candidates()):
        name = full.partition("::")[2]
        if name not in own and name not in _DERIVED:
            _implement(aten, name, full, session)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch remarks on every override; this one is meant
        aten.impl(
            "_has_compatible_shallow_copy_type",
            lambda _first, _second: True,
            "CompositeImplicitAutograd",
            allow_override=True,
        )


def _candidates() -> list[str]:
    """Operators a backend may register; one with an implicit decomposition would lose its gradient."""
    return [
        name
        for name in all_operators()
        if name.startswith("aten::") and not has_kernel(name, "CompositeImplicitAutograd")
    ]


def _implement(aten: Value, name: str, full: str, session: Session) -> None:
    call = find_operator(full)
    if call is not None:
        aten.impl(name, Operator(call, session), KEY)


def convolutions(session: Session) -> dict[str, Callable[..., Value]]:
    """The two entry points for convolutions, over torch's own operators."""
    aten = torch.ops.aten
    forward = Operator(aten.convolution.default, session)
    backward = Operator(aten.convolution_backward.default, session)
    forward.state = backward.state = State.NATIVE
    both = Convolutions(forward, backward)
    return {
        "convolution_overrideable": both.forward,
        "convolution_backward_overrideable": both.backward,
    }
