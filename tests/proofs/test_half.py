"""NPU311: the rewritten step is the same training, with the loss scaled and the gradients unscaled in time."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch
import twins
from scaler import Scaler
from torch import nn

RULE = "npu311_half_training"
FLOAT32 = 1e-6


@pytest.fixture(autouse=True)
def float_everywhere(monkeypatch):
    """``half`` and ``cuda`` do nothing, and neither does autocast: what is left is the order of the steps."""
    for owner in (torch.Tensor, nn.Module):
        for method in ("half", "cuda", "npu"):
            monkeypatch.setattr(owner, method, lambda self: self, raising=False)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    monkeypatch.setitem(
        sys.modules, "torch_npu", SimpleNamespace(npu=SimpleNamespace(amp=SimpleNamespace(GradScaler=Scaler)))
    )


def trained(function, *more):
    """The weights after some steps."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    batches = [(torch.randn(5, 3, dtype=torch.float64), torch.randn(5, 2, dtype=torch.float64)) for _ in range(9)]
    function(model, batches, optimizer, *more, nn.functional.mse_loss)
    return [parameter.detach() for parameter in model.parameters()]


def test_a_plain_loop():
    before, after = twins.pair(RULE)
    assert twins.difference(trained(before["fit"]), trained(after["fit"])) <= twins.EXACT


def test_accumulation_and_clipping():
    before, after = twins.pair(RULE, "loops")
    scheduler = SimpleNamespace(step=lambda: None)
    old, new = (trained(names["accumulate"], scheduler) for names in (before, after))
    assert twins.difference(old, new) <= twins.EXACT


def test_a_loop_that_uses_global_names():
    before, after = twins.pair(RULE, "elsewhere")
    after["model"].load_state_dict(before["model"].state_dict())
    torch.manual_seed(0)
    batches = [(torch.randn(5, 3), torch.randn(5, 2)) for _ in range(9)]
    for names in (before, after):
        names["epoch"](batches, nn.functional.mse_loss)
    old, new = ([p.detach() for p in names["model"].parameters()] for names in (before, after))
    assert twins.difference(old, new) <= FLOAT32


def test_a_loop_in_another_method():
    before, after = twins.pair(RULE, "elsewhere")

    def steps(names):
        def function(model, batches, optimizer, loss_fn):
            trainer = names["Trainer"](model, optimizer)
            for x, y in batches:
                trainer.step(x, y, loss_fn)

        return trained(function)

    assert twins.difference(steps(before), steps(after)) <= twins.EXACT
