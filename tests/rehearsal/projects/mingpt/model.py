"""A small decoder, in the way that teaching repositories write one."""

import math

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Causal attention with an explicit mask, then a multilayer perceptron."""

    def __init__(self, width, heads, length):
        """Take the width of an embedding, the number of heads, the longest sequence."""
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))
        self.register_buffer("mask", torch.tril(torch.ones(length, length)).view(1, 1, length, length))

    def forward(self, x):
        """One block: the shape stays ``(batch, length, width)``."""
        batch, length, width = x.size()
        parts = self.mix(self.norms[0](x)).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
        mixed = (functional.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(batch, length, width)
        x = x + self.out(mixed)
        return x + self.mlp(self.norms[1](x))


class GPT(nn.Module):
    """Embeddings, blocks, and a head that shares its weights with the embedding."""

    def __init__(self, vocabulary, length, width=32, heads=2, depth=2):
        """Take the sizes."""
        super().__init__()
        self.length = length
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Parameter(torch.zeros(1, length, width))
        self.blocks = nn.Sequential(*[Block(width, heads, length) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, targets=None):
        """Logits, and the loss where targets are given; ``ids`` is ``(batch, length)``."""
        x = self.norm(self.blocks(self.tokens(ids) + self.places[:, : ids.size(1)]))
        logits = self.head(x)
        if targets is None:
            return logits, None
        return logits, functional.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    @torch.no_grad()
    def generate(self, ids, count):
        """Append sampled tokens."""
        for _ in range(count):
            logits, _ = self(ids[:, -self.length :])
            chances = functional.softmax(logits[:, -1, :], dim=-1)
            ids = torch.cat((ids, torch.multinomial(chances, num_samples=1)), dim=1)
        return ids
