"""The fused optimizers of ``torch_npu.optim``: torch's own arithmetic under their names."""

from __future__ import annotations

import torch

from npu_migrate.rehearse.interface import BACKEND, Value


class _Fused:
    """What all of them add: parameters must be on the device, and a fused clipping of gradients."""

    param_groups: list[dict[str, Value]]

    def _check(self) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.device.type != BACKEND:
                    message = f"{type(self).__name__} expects its parameters on the NPU, one is on {parameter.device}"
                    raise ValueError(message)

    def clip_grad_norm_fused_(self, max_norm: float = 5.0, norm_type: float = 2) -> Value:
        """Clip the gradients of all parameters at once."""
        parameters = [parameter for group in self.param_groups for parameter in group["params"]]
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)


def _fused(name: str, base: Value) -> type:
    def __init__(self: Value, params: Value, *args: Value, **kwargs: Value) -> None:  # noqa: N807  (goes into a class)
        base.__init__(self, params, *args, **kwargs)
        self._check()

    return type(name, (_Fused, base), {"__init__": __init__, "__module__": "torch_npu.optim"})


def table() -> dict[str, Value]:
    """The optimizers by name."""
    bases = {
        "NpuFusedSGD": torch.optim.SGD,
        "NpuFusedAdam": torch.optim.Adam,
        "NpuFusedAdamW": torch.optim.AdamW,
        "NpuFusedAdadelta": torch.optim.Adadelta,
        "NpuFusedRMSprop": torch.optim.RMSprop,
    }
    return {name: _fused(name, base) for name, base in bases.items()}
