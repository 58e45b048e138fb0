"""Emulated ``npu_*`` operators against a reference written another way, mostly with torch's own layers."""

# ruff: noqa: FBT003  (flags of the operators have no names)

from __future__ import annotations

import math

import torch
import torch_npu
from torch import nn
from torch.nn import functional


def _close(ours, reference, tolerance=1e-5):
    assert ours.device.type == "npu"
    torch.testing.assert_close(ours.cpu(), reference, rtol=tolerance, atol=tolerance)


def _x(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def silu():
    _close(torch_npu.npu_silu(_x(3, 4).npu()), nn.SiLU()(_x(3, 4)))


def silu_in_place():
    x = _x(3, 4).npu()
    torch_npu.npu_silu_(x)
    _close(x, nn.SiLU()(_x(3, 4)))


def mish():
    _close(torch_npu.npu_mish(_x(3, 4).npu()), nn.Mish()(_x(3, 4)))


def gelu():
    _close(torch_npu.npu_gelu(_x(3, 4).npu()), nn.GELU()(_x(3, 4)))
    _close(torch_npu.npu_gelu(_x(3, 4).npu(), approximate="tanh"), nn.GELU("tanh")(_x(3, 4)))


def fast_gelu():
    x = _x(3, 4)
    reference = x / (1 + torch.exp(-1.702 * x.abs())) * torch.exp(0.851 * (x - x.abs()))
    _close(torch_npu.npu_fast_gelu(x.npu()), reference)
    _close(torch_npu.fast_gelu(x.npu()), reference)


def swiglu():
    x = _x(3, 8)
    _close(torch_npu.npu_swiglu(x.npu()), x[:, :4] * torch.sigmoid(x[:, :4]) * x[:, 4:])
    _close(torch_npu.npu_swiglu(x.t().contiguous().npu(), dim=0), (nn.SiLU()(x[:, :4]) * x[:, 4:]).t())


def swiglu_has_a_gradient():
    x, y = _x(3, 8).npu().requires_grad_(), _x(3, 8).requires_grad_()
    torch_npu.npu_swiglu(x).sum().backward()
    (nn.SiLU()(y[:, :4]) * y[:, 4:]).sum().backward()
    _close(x.grad, y.grad)


def geglu():
    x = _x(3, 8)
    ours, active = torch_npu.npu_geglu(x.npu())
    _close(ours, x[:, :4] * nn.GELU("tanh")(x[:, 4:]))
    _close(active, nn.GELU("tanh")(x[:, 4:]))
    _close(torch_npu.npu_geglu(x.npu(), -1, 0, True)[0], nn.GELU()(x[:, :4]) * x[:, 4:])


def scaled_masked_softmax():
    x, mask = _x(2, 3, 4, 4), torch.ones(4, 4).triu(1).bool()
    reference = (x * 0.5).masked_fill(mask, -math.inf).softmax(-1)
    _close(torch_npu.npu_scaled_masked_softmax(x.npu(), mask.npu(), 0.5), reference)
    _close(torch_npu.npu_scaled_masked_softmax(x.npu(), mask.npu(), 0.5, True), reference)


def softmax_cross_entropy():
    x, target = _x(5, 3), torch.tensor([0, 2, 1, 1, 0])
    labels = functional.one_hot(target, 3).float()
    ours = torch_npu.npu_softmax_cross_entropy_with_logits(x.npu(), labels.npu())
    _close(ours, nn.CrossEntropyLoss(reduction="none")(x, target))


def cross_entropy():
    x, target = _x(5, 3), torch.tensor([0, 2, 1, 1, -100])
    loss, log_prob, _, _ = torch_npu.npu_cross_entropy_loss(x.npu(), target.npu())
    _close(loss, nn.CrossEntropyLoss()(x, target))
    _close(log_prob, x.log_softmax(1))


def window_softmax():
    x, bias = _x(2, 3, 4, 4, 4), _x(1, 1, 4, 4, 4, seed=1)[0]
    ours = torch_npu.npu_masked_softmax_with_rel_pos_bias(x.npu(), None, bias.npu(), 0.25)
    _close(ours, torch.softmax(x / 4 + bias, -1))


def rms_norm():
    x, gamma = _x(2, 5, 8), _x(8, seed=1)
    ours, rstd = torch_npu.npu_rms_norm(x.npu(), gamma.npu(), epsilon=1e-5)
    _close(ours, functional.rms_norm(x, (8,), gamma, 1e-5))
    _close(rstd, 1 / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-5))


def rms_norm_keeps_a_narrow_dtype():
    ours, rstd = torch_npu.npu_rms_norm(_x(2, 8).npu().half(), torch.ones(8).npu().half())
    assert ours.dtype is torch.float16
    assert rstd.dtype is torch.float32


def rms_norm_has_gradients():
    x, gamma = _x(2, 8).npu().requires_grad_(), _x(8, seed=1).npu().requires_grad_()
    torch_npu.npu_rms_norm(x, gamma)[0].square().sum().backward()
    y, delta = _x(2, 8).requires_grad_(), _x(8, seed=1).requires_grad_()
    functional.rms_norm(y, (8,), delta, 1e-6).square().sum().backward()
    _close(x.grad, y.grad, 1e-4)
    _close(gamma.grad, delta.grad, 1e-4)


def gemma_rms_norm():
    x, gamma = _x(2, 8), _x(8, seed=1)
    _close(torch_npu.npu_gemma_rms_norm(x.npu(), gamma.npu())[0], functional.rms_norm(x, (8,), gamma + 1, 1e-6))


def add_rms_norm():
    a, b, gamma = _x(2, 8), _x(2, 8, seed=1), _x(8, seed=2)
    ours, _, total = torch_npu.npu_add_rms_norm(a.npu(), b.npu(), gamma.npu())
    _close(ours, functional.rms_norm(a + b, (8,), gamma, 1e-6))
    _close(total, a + b)


def add_layer_norm():
    a, b, gamma, beta = _x(2, 8), _x(2, 8, seed=1), _x(8, seed=2), _x(8, seed=3)
    ours, mean, _, total = torch_npu.npu_add_layer_norm(a.npu(), b.npu(), gamma.npu(), beta.npu(), 1e-5, True)
    _close(ours, functional.layer_norm(a + b, (8,), gamma, beta, 1e-5))
    _close(mean, (a + b).mean(-1, keepdim=True))
    _close(total, a + b)


def deep_norm():
    x, residual, beta, gamma = _x(2, 8), _x(2, 8, seed=1), _x(8, seed=2), _x(8, seed=3)
    ours = torch_npu.npu_deep_norm(x.npu(), residual.npu(), beta.npu(), gamma.npu(), 0.5, 1e-5)[2]
    _close(ours, functional.layer_norm(0.5 * x + residual, (8,), gamma, beta, 1e-5))


def layer_norm_eval():
    x, weight, bias = _x(2, 8), _x(8, seed=1), _x(8, seed=2)
    ours = torch_npu.npu_layer_norm_eval(x.npu(), [8], weight.npu(), bias.npu())
    _close(ours, functional.layer_norm(x, (8,), weight, bias))


def group_norm_with_silu():
    x, weight, bias = _x(2, 4, 3, 3), _x(4, seed=1), _x(4, seed=2)
    ours, mean, _ = torch_npu.npu_group_norm_silu(x.npu(), weight.npu(), bias.npu(), 2)
    _close(ours, nn.SiLU()(functional.group_norm(x, 2, weight, bias)))
    _close(mean, x.reshape(2, 2, -1).mean(-1))


def group_norm_with_swish():
    x, weight, bias = _x(2, 4, 3, 3), _x(4, seed=1), _x(4, seed=2)
    ours = torch_npu.npu_group_norm_swish(x.npu(), 2, weight.npu(), bias.npu())[0]
    _close(ours, nn.SiLU()(functional.group_norm(x, 2, weight, bias)))


def _reference_attention(q, k, v, **options):
    return functional.scaled_dot_product_attention(q, k, v, **options)


def fusion_attention_by_head_first():
    q, k, v = _x(2, 4, 5, 8), _x(2, 4, 6, 8, seed=1), _x(2, 4, 6, 8, seed=2)
    ours = torch_npu.npu_fusion_attention(q.npu(), k.npu(), v.npu(), 4, "BNSD", scale=1 / math.sqrt(8))
    _close(ours[0], _reference_attention(q, k, v))
    assert ours[1].shape == (2, 4, 5, 8)


def fusion_attention_in_every_layout():
    q = _x(2, 4, 5, 8)
    reference = _reference_attention(q, q, q)
    layouts = {
        "BSND": lambda t: t.transpose(1, 2),
        "BSH": lambda t: t.transpose(1, 2).reshape(2, 5, 32),
        "SBH": lambda t: t.permute(2, 0, 1, 3).reshape(5, 2, 32),
    }
    for layout, arrange in layouts.items():
        x = arrange(q).contiguous().npu()
        ours = torch_npu.npu_fusion_attention(x, x, x, 4, layout, scale=1 / math.sqrt(8))[0]
        _close(ours, arrange(reference))


def fusion_attention_hides_where_the_mask_is_true():
    q = _x(1, 2, 5, 8)
    mask = torch.ones(5, 5).triu(1).bool()
    x = q.npu()
    ours = torch_npu.npu_fusion_attention(x, x, x, 2, "BNSD", atten_mask=mask.npu(), scale=1 / math.sqrt(8))[0]
    _close(ours, _reference_attention(q, q, q, is_causal=True))


def fusion_attention_with_compressed_causal_mask():
    q = _x(1, 2, 5, 8)
    mask = torch.ones(2048, 2048).triu(1).bool().npu()
    x = q.npu()
    for mode in (2, 3):
        ours = torch_npu.npu_fusion_attention(
            x, x, x, 2, "BNSD", atten_mask=mask, scale=1 / math.sqrt(8), sparse_mode=mode
        )[0]
        _close(ours, _reference_attention(q, q, q, is_causal=True))


def fusion_attention_with_grouped_heads():
    q, k = _x(1, 4, 5, 8), _x(1, 2, 5, 8, seed=1)
    ours = torch_npu.npu_fusion_attention(q.npu(), k.npu(), k.npu(), 4, "BNSD", scale=1 / math.sqrt(8))[0]
    _close(ours, _reference_attention(q, k, k, enable_gqa=True))


def fusion_attention_over_packed_sequences():
    q = _x(7, 2, 8)
    parts = [q[:3], q[3:]]
    reference = [_reference_attention(*[part.transpose(0, 1)] * 3).transpose(0, 1) for part in parts]
    x = q.npu()
    ours = torch_npu.npu_fusion_attention(
        x, x, x, 2, "TND", scale=1 / math.sqrt(8), actual_seq_qlen=[3, 7], actual_seq_kvlen=[3, 7]
    )[0]
    _close(ours, torch.cat(reference))


def fusion_attention_has_gradients():
    x, y = _x(1, 2, 5, 8).npu().requires_grad_(), _x(1, 2, 5, 8).requires_grad_()
    torch_npu.npu_fusion_attention(x, x, x, 2, "BNSD", scale=1 / math.sqrt(8))[0].square().sum().backward()
    _reference_attention(y, y, y).square().sum().backward()
    _close(x.grad, y.grad, 1e-4)


def prompt_attention():
    q = _x(2, 5, 16)
    ours = torch_npu.npu_prompt_flash_attention(
        q.npu(), q.npu(), q.npu(), num_heads=2, scale_value=1 / math.sqrt(8), input_layout="BSH"
    )
    heads = q.reshape(2, 5, 2, 8).transpose(1, 2)
    _close(ours, _reference_attention(heads, heads, heads).transpose(1, 2).reshape(2, 5, 16))


def incremental_attention():
    q, k = _x(2, 2, 1, 8), _x(2, 2, 6, 8, seed=1)
    ours = torch_npu.npu_incre_flash_attention(
        q.npu(), k.npu(), k.npu(), num_heads=2, scale_value=1 / math.sqrt(8), input_layout="BNSD"
    )
    _close(ours, _reference_attention(q, k, k))


def rotary_positions():
    x, angle = _x(2, 3, 5, 8), _x(1, 1, 5, 4, seed=1)
    cosine, sine = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
    turned = torch.view_as_complex(torch.stack([x[..., :4], x[..., 4:]], -1)) * torch.polar(
        torch.ones_like(angle), angle
    )
    reference = torch.cat([turned.real, turned.imag], -1)
    _close(torch_npu.npu_rotary_mul(x.npu(), cosine.npu(), sine.npu()), reference)


def rotary_positions_interleaved():
    x, angle = _x(2, 3, 5, 8), _x(1, 1, 5, 4, seed=1)
    cosine, sine = angle.cos().repeat_interleave(2, -1), angle.sin().repeat_interleave(2, -1)
    turned = torch.view_as_complex(x.reshape(2, 3, 5, 4, 2)) * torch.polar(torch.ones_like(angle), angle)
    ours = torch_npu.npu_rotary_mul(x.npu(), cosine.npu(), sine.npu(), "interleave")
    _close(ours, torch.view_as_real(turned).flatten(-2))


def linear():
    x, w, b = _x(2, 4), _x(3, 4, seed=1), _x(3, seed=2)
    _close(torch_npu.npu_linear(x.npu(), w.npu(), b.npu()), x @ w.t() + b)


def batched_product():
    x, y = _x(2, 3, 4), _x(2, 4, 5, seed=1)
    _close(torch_npu.npu_bmmV2(x.npu(), y.npu(), []), torch.bmm(x, y))


def convolution():
    x, w = _x(1, 3, 5, 5), _x(4, 3, 3, 3, seed=1)
    ours = torch_npu.npu_conv2d(x.npu(), w.npu(), None, [1, 1], [1, 1], [1, 1], 1)
    _close(ours, functional.conv2d(x, w, padding=1), 1e-4)


def shapes():
    x = _x(2, 3, 4)
    _close(torch_npu.npu_transpose(x.npu(), [2, 0, 1]), x.permute(2, 0, 1))
    _close(torch_npu.npu_broadcast(x[:1].npu(), [5, 3, 4]), x[:1].expand(5, 3, 4))
    _close(torch_npu.npu_reshape(x.npu(), [6, 4]), x.reshape(6, 4))
    _close(torch_npu.npu_slice(x.npu(), [0, 1, 1], [2, 2, 3]), x[0:2, 1:3, 1:4])
    _close(torch_npu.npu_pad(x.npu(), [0, 0, 1, 0, 0, 2]), functional.pad(x, (0, 2, 1, 0)))


def transpose_and_reshape():
    x = _x(2, 3, 4, 6)
    ours = torch_npu.npu_confusion_transpose(x.npu(), [0, 2, 1, 3], [2, 4, 18], True)
    _close(ours, x.permute(0, 2, 1, 3).reshape(2, 4, 18))


def one_hot():
    ours = torch_npu.npu_one_hot(torch.tensor([1, 2, 0]).npu(), depth=4)
    _close(ours, functional.one_hot(torch.tensor([1, 2, 0]), 4).float())


def extremes():
    x = _x(3, 4)
    values, indices = torch_npu.npu_max(x.npu(), 1)
    _close(values, x.amax(1))
    assert indices.cpu().tolist() == x.argmax(1).tolist()
    _close(torch_npu.npu_min(x.npu(), 0, True)[0], x.amin(0, keepdim=True))


def ordered_values():
    x = _x(3, 4)
    _close(torch_npu.npu_sort_v2(x.npu(), dim=1, descending=True), x.sort(1, descending=True).values)


def rows_replaced():
    x, updates = _x(4, 2), torch.ones(2, 2)
    ours = torch_npu.npu_scatter_nd_update(x.npu(), torch.tensor([[0], [2]]).npu(), updates.npu())
    reference = x.clone()
    reference[[0, 2]] = 1.0
    _close(ours, reference)


def format_and_dtype_casts():
    x = _x(2, 3)
    _close(torch_npu.npu_format_cast(x.npu(), 2), x)
    assert torch_npu.npu_format_cast_(x.npu(), 29).shape == (2, 3)
    assert torch_npu.npu_dtype_cast(x.npu(), torch.float16).dtype is torch.float16


def experts_are_chosen():
    x = _x(5, 8)
    weights, experts, rows = torch_npu.npu_moe_gating_top_k_softmax(x.npu(), None, 2)
    best = x.softmax(-1).sort(-1, descending=True)
    _close(weights, best.values[:, :2])
    assert experts.cpu().tolist() == best.indices[:, :2].tolist()
    assert rows.cpu().tolist() == [[i, 5 + i] for i in range(5)]


def tokens_go_to_experts_and_back():
    tokens, experts = _x(4, 3), torch.tensor([[1, 0], [0, 2], [2, 1], [0, 1]])
    permuted, places = torch_npu.npu_moe_token_permute(tokens.npu(), experts.npu())
    order = sorted(range(8), key=lambda i: (experts.flatten()[i].item(), i))
    _close(permuted, tokens[[i // 2 for i in order]])
    probs = torch.full((4, 2), 0.5)
    _close(torch_npu.npu_moe_token_unpermute(permuted, places, probs.npu()), tokens)


def tokens_are_quantised():
    x = _x(4, 8)
    quantised, scale = torch_npu.npu_dynamic_quant(x.npu())
    assert quantised.dtype is torch.int8
    torch.testing.assert_close(quantised.cpu().float() * scale.cpu().unsqueeze(-1), x, atol=0.02, rtol=0.02)


def overflow_status():
    status = torch_npu.npu_alloc_float_status(torch.ones(1).npu())
    assert status.shape == (8,)
    assert torch_npu.npu_get_float_status(status).sum().item() == 0
