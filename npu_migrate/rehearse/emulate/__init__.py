"""The ``npu_*`` operators of torch_npu, from their documented semantics, in plain torch.

Each is made of ordinary operators, so gradients come by themselves; what an NPU computes in another order or width
may differ in the last digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

import torch

from npu_migrate.rehearse.emulate import activations, attention, boxes, data, mixture, norms
from npu_migrate.rehearse.emulate.registry import emulations
from npu_migrate.rehearse.facts import State
from npu_migrate.rehearse.interface import BACKEND, Value, exclude_keys, find_operator, key_set
from npu_migrate.rehearse.interface import dispatch_key as keys

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session

NAMESPACE = "npu"
FAMILIES = (activations, attention, boxes, data, mixture, norms)
_libraries: list[Value] = []


def register(session: Session) -> dict[str, Value]:
    """Define the operators that the target has; returns them by name."""
    library = torch.library.Library(NAMESPACE, "DEF")
    _libraries.append(library)
    made = {}
    for schema, body in emulations.items():
        name = schema.partition("(")[0]
        base = name.partition(".")[0]
        if session.facts.has(f"torch_npu.{base}"):
            library.define(schema)
            library.impl(name, guarded(session, name, body), "CompositeImplicitAutograd")
            made[base] = getattr(torch.ops.npu, base)
    return made


def override(session: Session) -> list[str]:
    """Emulate the operators that a real torch_npu has defined; returns their names."""
    library = torch.library.Library(NAMESPACE, "IMPL")
    _libraries.append(library)
    done = []
    for schema, body in emulations.items():
        name = schema.partition("(")[0]
        for overload in _overloads(name):
            for key in ("AutogradPrivateUse1", "PrivateUse1"):
                library.impl(overload, guarded(session, overload, body), key, allow_override=True)
            done.append(overload)
    return done


def _overloads(name: str) -> list[str]:
    """The one that is named, else all: they differ in options that mean nothing here."""
    base, _, overload = name.partition(".")
    if find_operator(f"{NAMESPACE}::{name}") is not None and overload:
        return [name]
    packet = getattr(torch.ops.npu, base, None)
    found = [] if packet is None or overload else packet.overloads()
    return [base if one == "default" else f"{base}.{one}" for one in found]


def guarded(session: Session, name: str, body: Callable[..., Value]) -> Callable[..., Value]:
    """Count the operator as one, refuse host tensors, and leave autocast out of its pieces."""
    full = f"{NAMESPACE}::{name}"

    def run(*args: Value, **kwargs: Value) -> Value:
        if not any(_on_device(value) for value in (*args, *kwargs.values())):
            message = f"Could not run '{full}' with arguments from the 'CPU' backend."
            raise NotImplementedError(message)
        session.count(full, State.EMULATED)
        session.quiet += 1
        try:
            with exclude_keys(key_set(keys.AutocastPrivateUse1)):
                return body(*args, **kwargs)
        finally:
            session.quiet -= 1

    return run


def _on_device(value: Value) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_on_device(part) for part in value)
    return isinstance(value, torch.Tensor) and value.device.type == BACKEND
