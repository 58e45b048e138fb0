"""Activations and softmaxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from npu_migrate.rehearse.emulate.registry import emulates

if TYPE_CHECKING:
    from npu_migrate.rehearse.interface import Value

_MASKED = -10000.0
_FAST_GELU = 1.702


@emulates("npu_silu(Tensor self) -> Tensor")
def silu(x: Value) -> Value:
    """``x * sigmoid(x)``."""
    return functional.silu(x)


@emulates("npu_silu_(Tensor(a!) self) -> Tensor(a!)")
def silu_(x: Value) -> Value:
    """`silu`, in place."""
    return x.copy_(functional.silu(x))


@emulates("npu_mish(Tensor self) -> Tensor")
def mish(x: Value) -> Value:
    """``x * tanh(softplus(x))``."""
    return functional.mish(x)


@emulates("npu_gelu(Tensor self, *, str approximate='none') -> Tensor")
def gelu(x: Value, *, approximate: str = "none") -> Value:
    """GELU, exact or by tanh."""
    return functional.gelu(x, approximate=approximate)


@emulates("npu_fast_gelu(Tensor self) -> Tensor")
def npu_fast_gelu(x: Value) -> Value:
    """``x * sigmoid(1.702 x)``."""
    return x * torch.sigmoid(_FAST_GELU * x)


@emulates("fast_gelu(Tensor self) -> Tensor")
def fast_gelu(x: Value) -> Value:
    """The older name of `npu_fast_gelu`."""
    return npu_fast_gelu(x)


@emulates("npu_swiglu(Tensor self, int dim=-1) -> Tensor")
def swiglu(x: Value, dim: int = -1) -> Value:
    """SiLU of the first half, times the second."""
    left, right = x.chunk(2, dim)
    return functional.silu(left) * right


@emulates("npu_geglu(Tensor self, int dim=-1, int approximate=1, bool activate_left=False) -> (Tensor, Tensor)")
def geglu(x: Value, dim: int = -1, approximate: int = 1, activate_left: Value = None) -> tuple[Value, Value]:
    """GELU of one half (by default the second) times the other; also the activated half."""
    left, right = x.chunk(2, dim)
    kept, gated = (right, left) if activate_left else (left, right)
    active = functional.gelu(gated, approximate="tanh" if approximate else "none")
    return kept * active, active


@emulates("npu_scaled_masked_softmax(Tensor x, Tensor mask, Scalar scale=1, bool fixed_triu_mask=False) -> Tensor")
def scaled_masked_softmax(x: Value, mask: Value, scale: float = 1, fixed_triu_mask: Value = None) -> Value:
    """Softmax over the last dimension of the scaled and masked scores."""
    if fixed_triu_mask:
        mask = torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
    return (x.float() * scale).masked_fill(mask, _MASKED).softmax(-1).to(x.dtype)


@emulates(
    "npu_masked_softmax_with_rel_pos_bias(Tensor x, Tensor? atten_mask, Tensor relative_pos_bias, "
    "float scale_value=1.0, int inner_precision_mode=0) -> Tensor"
)
def masked_softmax_with_rel_pos_bias(
    x: Value, atten_mask: Value, relative_pos_bias: Value, scale_value: float = 1.0, inner_precision_mode: int = 0
) -> Value:
    """Softmax of the scaled scores plus mask plus position bias, as window attention has it."""
    del inner_precision_mode
    scores = x * scale_value
    if atten_mask is not None:
        scores = scores + atten_mask
    return (scores + relative_pos_bias).softmax(-1)


@emulates("npu_softmax_cross_entropy_with_logits(Tensor self, Tensor labels) -> Tensor")
def softmax_cross_entropy_with_logits(logits: Value, labels: Value) -> Value:
    """Cross entropy of each row against a distribution."""
    return -(labels * logits.log_softmax(-1)).sum(-1)


@emulates(
    "npu_cross_entropy_loss(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean', "
    "int ignore_index=-100, float label_smoothing=0.0, float lse_square_scale_for_zloss=0.0, "
    "bool return_zloss=False) -> (Tensor, Tensor, Tensor, Tensor)"
)
def cross_entropy_loss(  # noqa: PLR0913, PLR0917  (the operator's signature)
    scores: Value,
    target: Value,
    weight: Value = None,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    _lse_scale: float = 0.0,
    _return_zloss: Value = None,
) -> tuple[Value, Value, Value, Value]:
    """Cross entropy; also the log probabilities, and two places for the z-loss."""
    loss = functional.cross_entropy(
        scores,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )
    return loss, scores.log_softmax(-1), torch.zeros_like(loss), scores.logsumexp(-1)
