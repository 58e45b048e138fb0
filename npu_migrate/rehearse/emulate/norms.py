"""Normalisations, alone or fused with an addition or an activation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from npu_migrate.rehearse.emulate.registry import emulates

if TYPE_CHECKING:
    from npu_migrate.rehearse.interface import Value


def _rms(x: Value, gamma: Value, epsilon: float, shift: float = 0.0) -> tuple[Value, Value]:
    wide = x.float()
    last = list(range(-gamma.dim(), 0))
    rstd = torch.rsqrt(wide.pow(2).mean(last, keepdim=True) + epsilon)
    return (wide * rstd * (gamma.float() + shift)).to(x.dtype), rstd


def _layer(x: Value, gamma: Value, beta: Value, epsilon: float) -> tuple[Value, Value, Value]:
    wide = x.float()
    last = list(range(-gamma.dim(), 0))
    variance, mean = torch.var_mean(wide, last, unbiased=False, keepdim=True)
    rstd = torch.rsqrt(variance + epsilon)
    result = (wide - mean) * rstd * gamma.float() + beta.float()
    return result.to(x.dtype), mean, rstd


@emulates("npu_rms_norm(Tensor self, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)")
def rms_norm(x: Value, gamma: Value, epsilon: float = 1e-6) -> tuple[Value, Value]:
    """RMS normalisation; also the reciprocal deviation."""
    return _rms(x, gamma, epsilon)


@emulates("npu_gemma_rms_norm(Tensor self, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)")
def gemma_rms_norm(x: Value, gamma: Value, epsilon: float = 1e-6) -> tuple[Value, Value]:
    """RMS normalisation whose weight counts from one."""
    return _rms(x, gamma, epsilon, shift=1.0)


@emulates("npu_add_rms_norm(Tensor x1, Tensor x2, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor, Tensor)")
def add_rms_norm(first: Value, second: Value, gamma: Value, epsilon: float = 1e-6) -> tuple[Value, Value, Value]:
    """RMS normalisation of a sum; also the reciprocal deviation and the sum."""
    total = first + second
    result, rstd = _rms(total, gamma, epsilon)
    return result, rstd, total


@emulates(
    "npu_add_layer_norm(Tensor x1, Tensor x2, Tensor gamma, Tensor beta, float epsilon=1e-05, "
    "bool additional_output=False) -> (Tensor, Tensor, Tensor, Tensor)"
)
def add_layer_norm(  # noqa: PLR0913, PLR0917  (the operator's signature)
    first: Value, second: Value, gamma: Value, beta: Value, epsilon: float = 1e-5, additional_output: Value = None
) -> tuple[Value, Value, Value, Value]:
    """Layer normalisation of a sum; also mean, reciprocal deviation and the sum."""
    del additional_output
    total = first + second
    return (*_layer(total, gamma, beta, epsilon), total)


@emulates(
    "npu_deep_norm(Tensor x, Tensor gx, Tensor beta, Tensor gamma, float alpha=0.3, float epsilon=1e-06) "
    "-> (Tensor, Tensor, Tensor)"
)
def deep_norm(  # noqa: PLR0913, PLR0917  (the operator's signature)
    x: Value, residual: Value, beta: Value, gamma: Value, alpha: float = 0.3, epsilon: float = 1e-6
) -> tuple[Value, Value, Value]:
    """Layer normalisation of ``alpha * x + residual``: mean, reciprocal deviation, result."""
    result, mean, rstd = _layer(alpha * x + residual, gamma, beta, epsilon)
    return mean, rstd, result


@emulates(
    "npu_layer_norm_eval(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05) -> Tensor"
)
def layer_norm_eval(
    x: Value, normalized_shape: Value, weight: Value = None, bias: Value = None, eps: float = 1e-5
) -> Value:
    """Layer normalisation for inference."""
    return functional.layer_norm(x, normalized_shape, weight, bias, eps)


def _group(x: Value, weight: Value, bias: Value, groups: int, eps: float) -> tuple[Value, Value, Value]:
    parts = x.float().reshape(x.shape[0], groups, -1)
    variance, mean = torch.var_mean(parts, 2, unbiased=False)
    return functional.group_norm(x, groups, weight, bias, eps), mean, torch.rsqrt(variance + eps)


@emulates(
    "npu_group_norm_silu(Tensor input, Tensor? weight, Tensor? bias, int group, float eps=0.00001) "
    "-> (Tensor, Tensor, Tensor)"
)
def group_norm_silu(x: Value, weight: Value, bias: Value, group: int, eps: float = 1e-5) -> tuple[Value, Value, Value]:
    """SiLU of a group normalisation; also mean and reciprocal deviation."""
    result, mean, rstd = _group(x, weight, bias, group, eps)
    return functional.silu(result), mean, rstd


@emulates(
    "npu_group_norm_swish(Tensor input, int num_groups, Tensor weight, Tensor bias, float? eps=1e-5, "
    "float? swish_scale=1.0) -> (Tensor, Tensor, Tensor)"
)
def group_norm_swish(  # noqa: PLR0913, PLR0917  (the operator's signature)
    x: Value, groups: int, weight: Value, bias: Value, eps: float = 1e-5, swish_scale: float = 1.0
) -> tuple[Value, Value, Value]:
    """Swish of a group normalisation; also mean and reciprocal deviation."""
    result, mean, rstd = _group(x, weight, bias, groups, eps)
    return result * torch.sigmoid(swish_scale * result), mean, rstd
