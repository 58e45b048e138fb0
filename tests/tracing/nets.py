"""What the tests trace: small models of the usual kinds."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, inward, outward, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inward, outward, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outward),
            nn.ReLU(inplace=True),
            nn.Conv2d(outward, outward, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outward),
        )
        self.beside = nn.Conv2d(inward, outward, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return torch.relu(self.body(x) + self.beside(x))


def resnet():
    layers = [
        nn.Conv2d(3, 8, 7, 2, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
        Block(8, 8, 1),
        Block(8, 16, 2),
    ]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4)), torch.rand(2, 3, 32, 32)


def transformer():
    return nn.Transformer(16, 2, 1, 1, 32, batch_first=True), torch.rand(2, 5, 16), torch.rand(2, 3, 16)


def lstm():
    return nn.LSTM(4, 8, batch_first=True), torch.rand(2, 5, 4)


def gru_cell():
    return nn.GRUCell(4, 8), torch.rand(2, 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.memory = nn.LSTM(8, 16)
        self.last = nn.Linear(16, 4)

    def forward(self, words):
        out, _ = self.memory(self.embed(words))
        return torch.lgamma(self.last(out).abs() + 1)


def net():
    return Net(), torch.zeros(3, 2, dtype=torch.long)


class Again(nn.Module):
    """Runs its part a second time for the gradient."""

    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(nn.Linear(4, 4), nn.GELU())

    def forward(self, x):
        return checkpoint(self.part, x, use_reentrant=False)


def again():
    return Again(), torch.rand(2, 4, requires_grad=True)


def picky():
    """Looks at a value to be built, which meta tensors do not have."""
    return nn.Linear(int(torch.tensor(4.0).item()), 2), torch.rand(3, 4)


def doubled(x, factor):
    return x.double() @ factor.double()


NUMBER = 3
