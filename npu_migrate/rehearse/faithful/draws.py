"""Random numbers for the faithful tier: seed and offset are torch_npu's, the numbers the CPU's."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from npu_migrate.rehearse.interface import Value

_STEP = 4  # the offset of a device generator moves by multiples of four
_WORD = 8


def source(index: int, given: Value) -> Value:
    """A CPU generator for the next draw of a device generator, whose offset moves on."""
    owner = torch.npu.default_generators[index] if given is None else given
    if owner.device.type == "cpu":
        return owner
    state = owner.get_state()
    seed = int.from_bytes(hashlib.sha256(bytes(state.tolist())).digest()[:_WORD], "little")
    offset = state[_WORD : 2 * _WORD].view(torch.int64)
    offset += _STEP
    owner.set_state(state)
    return torch.Generator().manual_seed(seed % (1 << 63))
