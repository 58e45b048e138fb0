"""Mixture of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from npu_migrate.rehearse.emulate.registry import emulates

if TYPE_CHECKING:
    from npu_migrate.rehearse.interface import Value


@emulates("npu_moe_gating_top_k_softmax(Tensor x, Tensor? finished=None, int k=1) -> (Tensor, Tensor, Tensor)")
def gating_top_k_softmax(x: Value, finished: Value = None, k: int = 1) -> tuple[Value, Value, Value]:
    """The best experts of each token: their weights, their numbers, and the row each copy comes from."""
    weights, experts = x.float().softmax(-1).topk(k, -1)
    if finished is not None:
        experts = experts.masked_fill(finished.unsqueeze(-1), x.shape[-1])
    tokens = x.shape[0]
    rows = torch.arange(tokens * k, device=x.device).reshape(k, tokens).t()
    return weights.to(x.dtype), experts.int(), rows.int().contiguous()


@emulates(
    "npu_moe_token_permute(Tensor tokens, Tensor indices, int? num_out_tokens=None, bool padded_mode=False) "
    "-> (Tensor, Tensor)"
)
def token_permute(
    tokens: Value, indices: Value, num_out_tokens: int | None = None, padded_mode: Value = None
) -> tuple[Value, Value]:
    """Tokens in the order of their experts, and where each copy went."""
    del padded_mode
    copies = 1 if indices.dim() == 1 else indices.shape[1]
    order = indices.flatten().sort(stable=True)[1]
    places = order.argsort(stable=True)
    chosen = order if not num_out_tokens else order[:num_out_tokens]
    return tokens.index_select(0, chosen // copies), places.int()


@emulates(
    "npu_moe_token_unpermute(Tensor permuted_tokens, Tensor sorted_indices, Tensor? probs=None, "
    "bool padded_mode=False, int[]? restore_shape=None) -> Tensor"
)
def token_unpermute(
    permuted: Value, places: Value, probs: Value = None, padded_mode: Value = None, restore_shape: Value = None
) -> Value:
    """Tokens back in their own order; the copies of each are added up, by weight."""
    del padded_mode, restore_shape
    back = permuted.index_select(0, places.long())
    if probs is None:
        return back
    return (back.reshape(probs.shape[0], probs.shape[1], -1) * probs.unsqueeze(-1)).sum(1).to(permuted.dtype)
