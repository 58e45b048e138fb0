"""Autocast on the simulated NPU, by the lists that torch_npu itself registers."""

from __future__ import annotations

import functools
import weakref
from typing import Callable

import torch

from npu_migrate.rehearse.interface import BACKEND, Value, dispatch_key, exclude_keys, find_operator, key_set
from npu_migrate.rehearse.words import words

_KEY = "AutocastPrivateUse1"

_LOWER = words("""
_convolution.deprecated _convolution conv1d conv2d conv3d conv1d.padding conv2d.padding conv3d.padding conv_tbc
conv_transpose1d conv_transpose2d.input conv_transpose3d.input convolution prelu addmm addmv addr matmul einsum mm mv
linear addbmm baddbmm bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell
rnn_tanh_cell rnn_relu_cell _scaled_dot_product_flash_attention scaled_dot_product_attention
""")
_FP32 = words("""
acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow.Tensor_Scalar pow.Tensor_Tensor
pow.Scalar softplus layer_norm native_layer_norm group_norm frobenius_norm.dim nuclear_norm nuclear_norm.dim
cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss
smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss
multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp
""")
_FP32_DTYPE = words("""
prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm linalg_matrix_norm
linalg_matrix_norm.str_ord sum sum.dim_IntList
""")
_FP32_APPENDED = {"norm.Scalar": "norm.ScalarOpt_dtype", "norm.ScalarOpt_dim": "norm.ScalarOpt_dim_dtype"}
_PROMOTE = words("addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put tensordot scatter_add")
_BANNED = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
    "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
    "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
    "safe to autocast."
)

_libraries: list[Value] = []
_cast_weights: dict[int, tuple[Value, Value]] = {}


def register() -> None:
    """Give autocast on npu its kernels."""
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(torch.library.fallthrough_kernel, _KEY)
    aten = torch.library.Library("aten", "IMPL")
    _libraries.extend([everything, aten])
    policies: list[tuple[list[str], Callable[..., Value]]] = [
        (_LOWER, _lower),
        (_FP32, _fp32),
        (_FP32_DTYPE, _fp32_dtype),
        (_PROMOTE, _promote),
    ]
    for names, policy in policies:
        for name in names:
            call = find_operator("aten::" + name)
            if call is not None:
                aten.impl(name, functools.partial(policy, call), _KEY)
    for name, longer in _FP32_APPENDED.items():
        aten.impl(name, functools.partial(_fp32_appended, find_operator("aten::" + longer)), _KEY)
    aten.impl("binary_cross_entropy", _banned, _KEY)
    _forget_with_torch()


def _forget_with_torch() -> None:
    """Drop the cast weights when torch drops its own, on leaving the outermost autocast."""
    plain = torch.clear_autocast_cache

    def clear() -> None:
        _cast_weights.clear()
        plain()

    torch.clear_autocast_cache = clear


def _outside() -> Value:
    return exclude_keys(key_set(dispatch_key.AutocastPrivateUse1))


def _eligible(value: Value) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.device.type == BACKEND
        and value.is_floating_point()
        and value.dtype is not torch.float64
    )


def _cast(value: Value, kind: Value) -> Value:
    if isinstance(value, torch.Tensor):
        return value.to(kind) if _eligible(value) and value.dtype is not kind else value
    if type(value) in {list, tuple}:
        return type(value)(_cast(part, kind) for part in value)
    return value


def _cast_weight(value: Value, kind: Value) -> Value:
    if type(value) in {list, tuple}:
        return type(value)(_cast_weight(part, kind) for part in value)
    if not _eligible(value) or value.dtype is kind:
        return value
    keep = value.is_leaf and value.requires_grad and value.dtype is torch.float32
    if not (keep and torch.is_autocast_cache_enabled()):
        return value.to(kind)
    found = _cast_weights.get(id(value))
    if found is None or found[0]() is not value:
        found = _cast_weights[id(value)] = (weakref.ref(value), value.to(kind))
    return found[1]


def _lower(call: Value, *args: Value, **kwargs: Value) -> Value:
    with _outside():
        kind = torch.get_autocast_dtype(BACKEND)
        named = {name: _cast_weight(value, kind) for name, value in kwargs.items()}
        return call(*[_cast_weight(value, kind) for value in args], **named)


def _fp32(call: Value, *args: Value, **kwargs: Value) -> Value:
    with _outside():
        named = {name: _cast(value, torch.float32) for name, value in kwargs.items()}
        return call(*[_cast(value, torch.float32) for value in args], **named)


def _takes_dtype(args: tuple[Value, ...], kwargs: dict[str, Value]) -> bool:
    """Whether nobody asked for a dtype and the data are narrow enough to want one."""
    asked = kwargs.get("dtype") is not None or any(isinstance(value, torch.dtype) for value in args)
    return not asked and bool(args) and _eligible(args[0])


def _fp32_dtype(call: Value, *args: Value, **kwargs: Value) -> Value:
    with _outside():
        if _takes_dtype(args, kwargs):
            names = [argument.name for argument in call._schema.arguments]  # noqa: SLF001  (public schema)
            if names.index("dtype") < len(args):
                args = args[: names.index("dtype")]
            kwargs = {**kwargs, "dtype": torch.float32}
        return call(*args, **kwargs)


def _fp32_appended(longer: Value, *args: Value) -> Value:
    with _outside():
        args = (*args, False) if longer is torch.ops.aten.norm.ScalarOpt_dim_dtype and len(args) == 3 else args  # noqa: PLR2004
        return longer(*args, dtype=torch.float32)


def _widest(values: Value) -> set[Value]:
    if isinstance(values, torch.Tensor):
        return {values.dtype} if _eligible(values) else set()
    if type(values) in {list, tuple}:
        return set().union(*(_widest(part) for part in values))
    return set()


def _promote(call: Value, *args: Value, **kwargs: Value) -> Value:
    with _outside():
        if torch.float32 in _widest(args):
            args = tuple(_cast(value, torch.float32) for value in args)
        return call(*args, **kwargs)


def _banned(*_args: Value) -> Value:
    raise RuntimeError(_BANNED)
