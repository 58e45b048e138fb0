"""DDP that looks for unused parameters, in a backend written in Python.

Torch's reducer copies its map of used parameters through pinned host memory, which such a backend cannot give. So every
parameter is made to take part, with nothing of it: the unused ones get a gradient of zeros, where hardware leaves None.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils import _pytree as pytree

from npu_migrate.rehearse.interface import BACKEND

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session
    from npu_migrate.rehearse.interface import Value

_ASKS = ("find_unused_parameters", "static_graph")


def register(session: Session) -> None:
    """Change DDP's constructor and forward."""
    plain_init, plain_forward = DistributedDataParallel.__init__, DistributedDataParallel.forward

    @functools.wraps(plain_init)
    def __init__(self: Value, module: Value, *args: Value, **kwargs: Value) -> None:  # noqa: N807  (goes into a class)
        wanted = any(kwargs.get(name) for name in _ASKS) and _on_the_device(module)
        if wanted:
            session.note("advice", "DistributedDataParallel: unused parameters get gradients of zeros in a rehearsal")
            kwargs.update(dict.fromkeys(_ASKS, False))
        plain_init(self, module, *args, **kwargs)
        self._touches_all = wanted

    def forward(self: Value, *args: Value, **kwargs: Value) -> Value:
        found = plain_forward(self, *args, **kwargs)
        return _touched(found, self.module) if self._touches_all and torch.is_grad_enabled() else found

    DistributedDataParallel.__init__ = __init__
    DistributedDataParallel.forward = forward


def _on_the_device(module: Value) -> bool:
    return any(parameter.device.type == BACKEND for parameter in module.parameters())


def _touched(found: Value, module: Value) -> Value:
    """The same result, whose first differentiable tensor depends on an empty part of every parameter."""
    leaves, shape = pytree.tree_flatten(found)
    for position, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
            parts = [parameter.reshape(-1)[:0].sum() for parameter in module.parameters() if parameter.requires_grad]
            leaves[position] = leaf + torch.stack([part.to(leaf) for part in parts]).sum()
            return pytree.tree_unflatten(leaves, shape)
    return found
