"""Operators that the CPU build of torch has no kernel for: fused recurrent cells, synchronised batch norm."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Callable

import torch

from npu_migrate.rehearse.facts import State

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session
    from npu_migrate.rehearse.interface import Value


def table(session: Session) -> dict[str, Callable[..., Value]]:
    """Every kernel by the name under ``aten::``."""
    kernels: dict[str, Callable[..., Value]] = {
        "_thnn_fused_lstm_cell": lstm_cell,
        "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
        "_thnn_fused_gru_cell": gru_cell,
        "_thnn_fused_gru_cell_backward": gru_cell_backward,
        "batch_norm_stats": batch_norm_stats,
        "batch_norm_elemt": batch_norm_elemt,
        "batch_norm_gather_stats_with_counts": gather_stats,
        "batch_norm_backward_reduce": batch_norm_backward_reduce,
        "batch_norm_backward_elemt": batch_norm_backward_elemt,
    }
    return {name: _emulated(session, "aten::" + name, kernel) for name, kernel in kernels.items()}


def _emulated(session: Session, name: str, kernel: Callable[..., Value]) -> Callable[..., Value]:
    @functools.wraps(kernel)
    def run(*args: Value, **kwargs: Value) -> Value:
        session.count(name, State.EMULATED)
        session.quiet += 1
        try:
            return kernel(*args, **kwargs)
        finally:
            session.quiet -= 1

    return run


def _plus(gates: Value, bias: Value) -> Value:
    return gates if bias is None else gates + bias


def lstm_cell(
    from_input: Value, from_hidden: Value, cell: Value, bias_input: Value = None, bias_hidden: Value = None
) -> tuple[Value, Value, Value]:
    """One step of an LSTM; the workspace keeps the four activated gates."""
    gates = _plus(from_input, bias_input) + _plus(from_hidden, bias_hidden)
    enter, forget, candidate, leave = gates.chunk(4, 1)
    enter, forget, leave = enter.sigmoid(), forget.sigmoid(), leave.sigmoid()
    candidate = candidate.tanh()
    after = forget * cell + enter * candidate
    return leave * after.tanh(), after, torch.cat([enter, forget, candidate, leave], 1)


def lstm_cell_backward(  # noqa: PLR0913, PLR0917  (torch's signature)
    grad_hidden: Value, grad_cell: Value, cell: Value, after: Value, workspace: Value, has_bias: Value
) -> tuple[Value, Value, Value]:
    """Gradients of `lstm_cell`: of the gates, of the cell, of the bias."""
    enter, forget, candidate, leave = workspace.chunk(4, 1)
    squashed = after.tanh()
    grad_hidden = torch.zeros_like(after) if grad_hidden is None else grad_hidden
    carried = grad_hidden * leave * (1 - squashed * squashed)
    carried = carried if grad_cell is None else carried + grad_cell
    gates = torch.cat(
        [
            carried * candidate * enter * (1 - enter),
            carried * cell * forget * (1 - forget),
            carried * enter * (1 - candidate * candidate),
            grad_hidden * squashed * leave * (1 - leave),
        ],
        1,
    )
    return gates, carried * forget, gates.sum(0) if has_bias else torch.empty(0, device=gates.device)


def gru_cell(
    from_input: Value, from_hidden: Value, hidden: Value, bias_input: Value = None, bias_hidden: Value = None
) -> tuple[Value, Value]:
    """One step of a GRU; the workspace keeps reset, update, candidate, the old state and the hidden part."""
    reset_i, update_i, new_i = _plus(from_input, bias_input).chunk(3, 1)
    reset_h, update_h, new_h = _plus(from_hidden, bias_hidden).chunk(3, 1)
    reset, update = (reset_i + reset_h).sigmoid(), (update_i + update_h).sigmoid()
    new = (new_i + reset * new_h).tanh()
    return new + update * (hidden - new), torch.cat([reset, update, new, hidden, new_h], 1)


def gru_cell_backward(grad: Value, workspace: Value, has_bias: Value) -> tuple[Value, Value, Value, Value, Value]:
    """Gradients of `gru_cell`: of both gate tensors, of the old state, of both biases."""
    reset, update, new, hidden, new_h = workspace.chunk(5, 1)
    grad_update = grad * (hidden - new) * update * (1 - update)
    grad_new = grad * (1 - update) * (1 - new * new)
    grad_reset = grad_new * new_h * reset * (1 - reset)
    of_input = torch.cat([grad_reset, grad_update, grad_new], 1)
    of_hidden = torch.cat([grad_reset, grad_update, grad_new * reset], 1)
    none = torch.empty(0, device=grad.device)
    biases = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (none, none)
    return of_input, of_hidden, grad * update, *biases


def _others(data: Value) -> list[int]:
    return [position for position in range(data.dim()) if position != 1]


def _channelwise(values: Value, data: Value) -> Value:
    return values.reshape([1, -1] + [1] * (data.dim() - 2))


def batch_norm_stats(data: Value, eps: float) -> tuple[Value, Value]:
    """Mean and inverse deviation of each channel on this device."""
    wide = data.float()
    variance, mean = torch.var_mean(wide, _others(data), unbiased=False)
    return mean, torch.rsqrt(variance + eps)


def batch_norm_elemt(data: Value, weight: Value, bias: Value, mean: Value, invstd: Value, _eps: float) -> Value:
    """Normalise with given statistics."""
    result = (data.float() - _channelwise(mean, data)) * _channelwise(invstd, data)
    if weight is not None:
        result = result * _channelwise(weight, data)
    if bias is not None:
        result = result + _channelwise(bias, data)
    return result.to(data.dtype)


def gather_stats(  # noqa: PLR0913, PLR0917  (torch's signature)
    _data: Value,
    mean: Value,
    invstd: Value,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
    counts: Value,
) -> tuple[Value, Value]:
    """Join the statistics of all devices and move the running ones."""
    share = counts.float().reshape(-1, 1)
    total = share.sum()
    joined = (mean * share).sum(0) / total
    variance = invstd.pow(-2) - eps + (mean - joined).pow(2)
    variance = (variance * share).sum(0) / total
    if running_mean is not None:
        running_mean.mul_(1 - momentum).add_(joined.to(running_mean.dtype), alpha=momentum)
    if running_var is not None:
        unbiased = variance * total / (total - 1)
        running_var.mul_(1 - momentum).add_((unbiased * momentum).to(running_var.dtype))
    return joined, torch.rsqrt(variance + eps)


def batch_norm_backward_reduce(  # noqa: PLR0913, PLR0917  (torch's signature)
    grad: Value,
    data: Value,
    mean: Value,
    invstd: Value,
    _weight: Value,
    _input_g: Value = None,
    weight_g: Value = None,
    bias_g: Value = None,
) -> tuple[Value, Value, Value, Value]:
    """The sums over this device that the gradient needs."""
    wide = grad.float()
    total = wide.sum(_others(data))
    weighted = (wide * (data.float() - _channelwise(mean, data))).sum(_others(data))
    none = torch.empty(0, device=grad.device)
    return total, weighted, weighted * invstd if weight_g else none, total if bias_g else none


def batch_norm_backward_elemt(  # noqa: PLR0913, PLR0917  (torch's signature)
    grad: Value,
    data: Value,
    mean: Value,
    invstd: Value,
    weight: Value,
    total: Value,
    weighted: Value,
    counts: Value,
) -> Value:
    """The gradient of the data from the joined sums."""
    size = counts.sum()
    centred = data.float() - _channelwise(mean, data)
    inner = grad.float() - _channelwise(total / size, data)
    inner = inner - centred * _channelwise(weighted / size * invstd * invstd, data)
    scale = invstd if weight is None else invstd * weight
    return (inner * _channelwise(scale, data)).to(data.dtype)
