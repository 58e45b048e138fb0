"""Fused attention and rotary positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from npu_migrate.rehearse.emulate.registry import emulates

if TYPE_CHECKING:
    from npu_migrate.rehearse.interface import Value

_LANES = 8
_ALL, _LEFT_UP, _RIGHT_DOWN, _BAND = 1, 2, 3, 4
_EVERYTHING = 2147483647
_LATER = ("inner_precise", "prefix", "actual_seq_qlen", "actual_seq_kvlen", "sparse_mode")


def _split(x: Value, heads: int, layout: str) -> Value:
    """Any layout as batch, head, sequence, width."""
    if layout == "BSH":
        return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)
    if layout == "SBH":
        return x.reshape(x.shape[0], x.shape[1], heads, -1).permute(1, 2, 0, 3)
    if layout == "BSND":
        return x.transpose(1, 2)
    if layout == "BNSD":
        return x
    message = f"input_layout {layout} is not one of BSH, SBH, BSND, BNSD, TND"
    raise RuntimeError(message)


def _join(x: Value, layout: str) -> Value:
    """Back to the layout the data came in."""
    if layout == "BSH":
        return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)
    if layout == "SBH":
        return x.permute(2, 0, 1, 3).reshape(x.shape[2], x.shape[0], -1)
    return x.transpose(1, 2) if layout == "BSND" else x


def _kv_heads(query: Value, key: Value, heads: int, layout: str) -> int:
    if layout in {"BSH", "SBH"}:
        return int(key.shape[-1] // (query.shape[-1] // heads))
    return int(key.shape[1 if layout == "BNSD" else 2])


def _hidden(scores: Value, mask: Value, mode: int, before: int, after: int) -> Value:
    """Which scores do not count."""
    rows, columns = scores.shape[-2:]
    if mode in {_LEFT_UP, _RIGHT_DOWN, _BAND}:
        row = torch.arange(rows, device=scores.device).unsqueeze(1)
        column = torch.arange(columns, device=scores.device)
        shift = 0 if mode == _LEFT_UP else columns - rows
        ahead = column - row - shift
        return (ahead > after) | (-ahead > before) if mode == _BAND else ahead > 0
    return None if mask is None else mask.bool()


def attend(  # noqa: PLR0913, PLR0917  (attention has this many parts)
    query: Value, key: Value, value: Value, scale: float, bias: Value, mask: Value, keep: float, band: Value
) -> tuple[Value, Value, Value]:
    """Attention on batch, head, sequence, width: the result, and maximum and sum of its softmax."""
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = query.float() @ key.float().transpose(-1, -2) * scale
    if bias is not None:
        scores = scores + bias
    hidden = _hidden(scores, mask, *band)
    if hidden is not None:
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    highest = scores.amax(-1, keepdim=True).detach()
    total = (scores - highest).exp().sum(-1, keepdim=True)
    weights = scores.softmax(-1)
    if keep < 1:
        weights = torch.nn.functional.dropout(weights, 1 - keep)
    return (weights @ value.float()).to(query.dtype), highest, total


@emulates(
    "npu_fusion_attention(Tensor query, Tensor key, Tensor value, int head_num, str input_layout, Tensor? pse=None, "
    "Tensor? padding_mask=None, Tensor? atten_mask=None, float scale=1., float keep_prob=1., "
    "int pre_tockens=2147483647, int next_tockens=2147483647, int inner_precise=0, int[]? prefix=None, "
    "int[]? actual_seq_qlen=None, int[]? actual_seq_kvlen=None, int sparse_mode=0, bool gen_mask_parallel=True, "
    "bool sync=False) -> (Tensor, Tensor, Tensor, Tensor, int, int, int)"
)
def fusion_attention(  # noqa: PLR0913, PLR0917  (the operator's signature)
    query: Value,
    key: Value,
    value: Value,
    head_num: int,
    input_layout: str,
    pse: Value = None,
    padding_mask: Value = None,
    atten_mask: Value = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tockens: int = _EVERYTHING,
    next_tockens: int = _EVERYTHING,
    *rest: Value,
    **options: Value,
) -> tuple[Value, Value, Value, Value, int, int, int]:
    """Flash attention for training; a mask hides where it is true."""
    del padding_mask
    options.update(zip(_LATER, rest))
    band = (options.get("sparse_mode", 0), pre_tockens, next_tockens)
    shared: Value = (scale, pse, atten_mask, keep_prob, band)
    if input_layout == "TND":
        ends = options["actual_seq_qlen"], options["actual_seq_kvlen"]
        result, highest, total = _packed(query, key, value, ends, shared)
    else:
        kv_heads = _kv_heads(query, key, head_num, input_layout)
        key, value = (_split(part, kv_heads, input_layout) for part in (key, value))
        result, highest, total = attend(_split(query, head_num, input_layout), key, value, *shared)
        result = _join(result, input_layout)
    lanes = [1] * (highest.dim() - 1) + [_LANES]
    none = torch.empty(0, dtype=query.dtype, device=query.device)
    return result, highest.repeat(lanes), total.repeat(lanes), none, 0, 0, 0


def _packed(query: Value, key: Value, value: Value, ends: Value, shared: Value) -> tuple[Value, Value, Value]:
    """Sequences of different lengths behind one another: token, head, width."""
    results, start_q, start_k = [], 0, 0
    for end_q, end_k in zip(*ends):
        parts = [query[start_q:end_q], key[start_k:end_k], value[start_k:end_k]]
        one = attend(*(part.transpose(0, 1).unsqueeze(0) for part in parts), *shared)
        results.append([part.squeeze(0).transpose(0, 1) for part in one])
        start_q, start_k = end_q, end_k
    result, highest, total = (torch.cat(parts) for parts in zip(*results))
    return result, highest, total


@emulates(
    "npu_prompt_flash_attention(Tensor query, Tensor key, Tensor value, *, Tensor? padding_mask=None, "
    "Tensor? atten_mask=None, Tensor? pse_shift=None, int[]? actual_seq_lengths=None, Tensor? deq_scale1=None, "
    "Tensor? quant_scale1=None, Tensor? deq_scale2=None, Tensor? quant_scale2=None, Tensor? quant_offset2=None, "
    "int num_heads=1, float scale_value=1.0, int pre_tokens=2147483647, int next_tokens=0, "
    'str input_layout="BSH", int num_key_value_heads=0, int[]? actual_seq_lengths_kv=None, int sparse_mode=0) -> Tensor'
)
def prompt_flash_attention(query: Value, key: Value, value: Value, **options: Value) -> Value:
    """Attention for inference over a whole prompt."""
    return _inference(query, key, value, options.get("scale_value", 1.0), options)[0]


@emulates(
    "npu_incre_flash_attention(Tensor query, Tensor key, Tensor value, *, Tensor? padding_mask=None, "
    "Tensor? atten_mask=None, Tensor? pse_shift=None, SymInt[]? actual_seq_lengths=None, int num_heads=1, "
    'float scale_value=1.0, str input_layout="BSH", int num_key_value_heads=0, int block_size=0, '
    "int inner_precise=1) -> Tensor"
)
def incre_flash_attention(query: Value, key: Value, value: Value, **options: Value) -> Value:
    """Attention for inference of one more token."""
    return _inference(query, key, value, options.get("scale_value", 1.0), options)[0]


def _inference(query: Value, key: Value, value: Value, scale: float, options: dict[str, Value]) -> tuple[Value, ...]:
    layout, heads = options.get("input_layout", "BSH"), options.get("num_heads", 1)
    kv_heads = options.get("num_key_value_heads") or heads
    parts = [_split(query, heads, layout), *(_split(part, kv_heads, layout) for part in (key, value))]
    band = (options.get("sparse_mode", 0), options.get("pre_tokens", _EVERYTHING), options.get("next_tokens", 0))
    query, key, value = parts
    shared: Value = (scale, options.get("pse_shift"), options.get("atten_mask"), 1.0, band)
    result, highest, total = attend(query, key, value, *shared)
    return _join(result, layout), highest, total


def _rotate(x: Value, mode: str) -> Value:
    if mode == "interleave":
        return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


@emulates("npu_rotary_mul(Tensor self, Tensor r1, Tensor r2, str rotary_mode='half') -> Tensor")
def rotary_mul(x: Value, cosine: Value, sine: Value, rotary_mode: str = "half") -> Value:
    """Rotary position embedding."""
    return x * cosine + _rotate(x, rotary_mode) * sine


@emulates(
    "npu_apply_rotary_pos_emb(Tensor query, Tensor key, Tensor cos, Tensor sin, str layout='BSND', "
    "str rotary_mode='half') -> (Tensor, Tensor)"
)
def apply_rotary_pos_emb(  # noqa: PLR0913, PLR0917  (the operator's signature)
    query: Value, key: Value, cos: Value, sin: Value, layout: str = "BSND", rotary_mode: str = "half"
) -> tuple[Value, Value]:
    """Rotary position embedding of queries and keys."""
    del layout
    return rotary_mul(query, cos, sin, rotary_mode), rotary_mul(key, cos, sin, rotary_mode)
