"""Formats, shapes, selections, matrix products and casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from npu_migrate.rehearse.emulate.registry import emulates

if TYPE_CHECKING:
    from npu_migrate.rehearse.interface import Value

_ND = 2
_INT8_MAX = 127.0
_BY_NUMBER = {
    0: torch.uint8,
    1: torch.int8,
    2: torch.int16,
    3: torch.int32,
    4: torch.int64,
    5: torch.float16,
    6: torch.float32,
    7: torch.float64,
    11: torch.bool,
    15: torch.bfloat16,
}


@emulates("npu_format_cast(Tensor self, int acl_format, *, int? customize_dtype=None, int? input_dtype=None) -> Tensor")
def format_cast(x: Value, _acl_format: int, **_options: Value) -> Value:
    """A private memory format has no meaning here: a copy of the same values."""
    return x.clone()


@emulates("npu_format_cast_(Tensor(a!) self, int acl_format) -> Tensor(a!)")
def format_cast_(x: Value, _acl_format: int) -> Value:
    """`format_cast`, in place."""
    return x


@emulates("get_npu_format(Tensor self) -> int")
def get_npu_format(_x: Value) -> int:
    """Always ND."""
    return _ND


@emulates("npu_dtype_cast(Tensor self, ScalarType dtype) -> Tensor")
def dtype_cast(x: Value, dtype: Value, _input_dtype: Value = None) -> Value:
    """Another dtype; newer releases give it by its number."""
    return x.to(_BY_NUMBER[dtype] if isinstance(dtype, int) else dtype)


@emulates("npu_transpose(Tensor self, int[] perm, bool require_contiguous=True) -> Tensor")
def transpose(x: Value, perm: Value, require_contiguous: Value = None) -> Value:
    """Dimensions in another order, with the data moved."""
    del require_contiguous
    return x.permute(perm).contiguous()


@emulates("npu_confusion_transpose(Tensor self, int[] perm, int[] shape, bool transpose_first) -> Tensor")
def confusion_transpose(x: Value, perm: Value, shape: Value, transpose_first: Value) -> Value:
    """A transposition and a reshape in one."""
    return x.permute(perm).reshape(shape) if transpose_first else x.reshape(shape).permute(perm).contiguous()


@emulates("npu_broadcast(Tensor self, int[] size) -> Tensor")
def broadcast(x: Value, size: Value) -> Value:
    """A larger shape, with the data repeated."""
    return x.expand(size).contiguous()


@emulates("npu_reshape(Tensor self, int[] shape, bool can_refresh=False) -> Tensor")
def reshape(x: Value, shape: Value, can_refresh: Value = None) -> Value:
    """Another shape, in new memory."""
    del can_refresh
    return x.reshape(shape).clone()


@emulates("npu_pad(Tensor input, int[] paddings) -> Tensor")
def pad(x: Value, paddings: Value) -> Value:
    """Zeros round the data; before and after, from the first dimension on."""
    pairs = [paddings[position : position + 2] for position in range(0, len(paddings), 2)]
    return functional.pad(x, [size for pair in reversed(pairs) for size in pair])


@emulates("npu_slice(Tensor self, int[] offsets, int[] size) -> Tensor")
def cut(x: Value, offsets: Value, size: Value) -> Value:
    """A block of the data."""
    for position, (start, length) in enumerate(zip(offsets, size)):
        x = x.narrow(position, start, length)
    return x.contiguous()


@emulates("npu_one_hot(Tensor self, int num_classes=-1, int depth=1, Scalar on_value=1, Scalar off_value=0) -> Tensor")
def one_hot(x: Value, num_classes: int = -1, depth: int = 1, on_value: float = 1, off_value: float = 0) -> Value:
    """Two values for hit and miss, in a new last dimension."""
    del num_classes
    hit = x.unsqueeze(-1) == torch.arange(depth, device=x.device)
    return torch.where(hit, float(on_value), float(off_value))


@emulates("npu_max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
def highest(x: Value, dim: int, keepdim: Value = None) -> tuple[Value, Value]:
    """The largest values along a dimension and where they are."""
    values, indices = x.max(dim, keepdim=bool(keepdim))
    return values, indices.int()


@emulates("npu_min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
def lowest(x: Value, dim: int, keepdim: Value = None) -> tuple[Value, Value]:
    """The smallest values along a dimension and where they are."""
    values, indices = x.min(dim, keepdim=bool(keepdim))
    return values, indices.int()


@emulates("npu_sort_v2(Tensor self, int dim=-1, bool descending=False) -> Tensor")
def sort(x: Value, dim: int = -1, descending: Value = None) -> Value:
    """The values in order, without indices."""
    return x.sort(dim, descending=bool(descending))[0]


@emulates("npu_scatter_nd_update(Tensor self, Tensor indices, Tensor updates) -> Tensor")
def scatter_nd_update(x: Value, indices: Value, updates: Value) -> Value:
    """A copy with rows replaced; the last dimension of the indices addresses one."""
    return x.clone().index_put(tuple(indices.unbind(-1)), updates)


@emulates("npu_scatter_nd_update_(Tensor(a!) self, Tensor indices, Tensor updates) -> Tensor(a!)")
def scatter_nd_update_(x: Value, indices: Value, updates: Value) -> Value:
    """`scatter_nd_update`, in place."""
    return x.index_put_(tuple(indices.unbind(-1)), updates)


@emulates("npu_linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
def linear(x: Value, weight: Value, bias: Value = None) -> Value:
    """A linear layer."""
    return functional.linear(x, weight, bias)


@emulates("npu_bmmV2(Tensor self, Tensor mat2, int[] output_sizes) -> Tensor")
def bmm(x: Value, other: Value, output_sizes: Value) -> Value:
    """A batched matrix product, in a given shape if there is one."""
    result = x @ other
    return result.reshape(output_sizes) if output_sizes else result


@emulates(
    "npu_conv2d(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) "
    "-> Tensor"
)
def conv2d(x: Value, weight: Value, bias: Value, *geometry: Value) -> Value:
    """A convolution over images."""
    return functional.conv2d(x, weight, bias, *geometry)


@emulates(
    "npu_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
    "int groups) -> Tensor"
)
def convolution(x: Value, weight: Value, bias: Value, *geometry: Value) -> Value:
    """A convolution of as many dimensions as the weight has."""
    ways = {3: functional.conv1d, 4: functional.conv2d, 5: functional.conv3d}
    return ways[weight.dim()](x, weight, bias, *geometry)


@emulates("npu_alloc_float_status(Tensor self) -> Tensor")
def alloc_float_status(x: Value) -> Value:
    """Room for overflow flags."""
    return torch.zeros(8, device=x.device)


@emulates("npu_get_float_status(Tensor self, int mode=0) -> Tensor")
def get_float_status(x: Value, mode: int = 0) -> Value:
    """No overflow was seen."""
    del mode
    return torch.zeros_like(x)


@emulates("npu_clear_float_status(Tensor self, int mode=0) -> Tensor")
def clear_float_status(x: Value, mode: int = 0) -> Value:
    """Forget overflows."""
    del mode
    return torch.zeros_like(x)


@emulates("npu_dynamic_quant(Tensor input, *, Tensor? smooth_scales=None) -> (Tensor, Tensor)")
def dynamic_quant(x: Value, *, smooth_scales: Value = None) -> tuple[Value, Value]:
    """Each token as int8 with its own scale."""
    wide = x.float() if smooth_scales is None else x.float() * smooth_scales.float()
    scale = wide.abs().amax(-1) / _INT8_MAX
    return (wide / scale.unsqueeze(-1)).round().clamp(-_INT8_MAX - 1, _INT8_MAX).to(torch.int8), scale
