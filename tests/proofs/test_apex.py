"""NPU306: what trained under apex trains the same under the scaler, step for step, and ends at the same weights."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from types import ModuleType, SimpleNamespace

import pytest
import torch
import twins
from scaler import Scaler
from torch import nn

RULE = "npu306_apex_amp"


class Amp:
    """What apex documents: the loss is scaled inside the block, gradients are unscaled when it ends."""

    factor = 512.0

    def __init__(self):
        self.levels = []

    def initialize(self, model, optimizer, opt_level="O1", **_):
        self.levels.append(opt_level)
        return model, optimizer

    @contextmanager
    def scale_loss(self, loss, optimizer):
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        before = [None if p.grad is None else p.grad.clone() for p in parameters]
        for p in parameters:
            p.grad = None
        yield loss * self.factor
        for p, old in zip(parameters, before):
            p.grad = p.grad / self.factor if old is None else old + p.grad / self.factor

    @staticmethod
    def master_params(optimizer):
        yield from (p for group in optimizer.param_groups for p in group["params"])

    @staticmethod
    def state_dict():
        return {}


class Wrapper:
    """``FP16_Optimizer`` as documented: it scales in ``backward`` and unscales before it clips or steps."""

    def __init__(self, optimizer, **_):
        self.optimizer = optimizer
        self.zero_grad, self.step, self.param_groups = optimizer.zero_grad, optimizer.step, optimizer.param_groups

    def backward(self, loss):
        with Amp().scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()

    def clip_master_grads(self, norm):
        return nn.utils.clip_grad_norm_(Amp.master_params(self.optimizer), norm)


@pytest.fixture(autouse=True)
def packages(monkeypatch):
    """Stand-ins for apex and torch_npu; nothing is rounded, so that what is left is the order of the steps."""
    for owner in (torch.Tensor, nn.Module):
        for method in ("half", "cuda", "npu"):
            monkeypatch.setattr(owner, method, lambda self: self, raising=False)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    monkeypatch.setattr(torch, "save", lambda *_: None)
    monkeypatch.setattr(nn.parallel, "DistributedDataParallel", lambda model: model)
    apex, utils = ModuleType("apex"), ModuleType("apex.fp16_utils")
    apex.amp, apex.optimizers, utils.FP16_Optimizer = Amp(), None, Wrapper
    monkeypatch.setitem(sys.modules, "apex", apex)
    monkeypatch.setitem(sys.modules, "apex.fp16_utils", utils)
    npu = SimpleNamespace(npu=SimpleNamespace(amp=SimpleNamespace(GradScaler=Scaler)))
    monkeypatch.setitem(sys.modules, "torch_npu", npu)


def made():
    """A model, its optimizer, and batches; the same every time."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    batches = [(torch.randn(5, 3, dtype=torch.float64), torch.randn(5, 2, dtype=torch.float64)) for _ in range(9)]
    return model, torch.optim.SGD(model.parameters(), lr=0.5), batches


def weights(model):
    return [parameter.detach() for parameter in model.parameters()]


def loops(names, case):
    """The weights after a training by one side of a fixture."""
    model, optimizer, batches = made()
    start = [w.clone() for w in weights(model)]
    loss = nn.functional.mse_loss
    if case == "basic":
        names["fit"](model, batches, loss, optimizer)
    elif case == "wrapper":
        names["fit"](model, batches, loss, 0.5)
    elif case == "trainer":
        trainer = names["Trainer"](Losses(model), optimizer)
        for batch in batches:
            trainer.step(batch)
    else:
        fp16, level = case.split()
        args = SimpleNamespace(fp16=fp16 == "fp16", level=level, norm=0.1)
        names["accumulate"](args, model, batches, loss, optimizer, SimpleNamespace(step=lambda: None))
    assert twins.difference(start, weights(model)) > 0
    return weights(model)


class Losses(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, batch):
        x, y = batch
        return {"a": nn.functional.mse_loss(self.model(x), y), "b": self.model(x).square().mean()}


@pytest.mark.parametrize("case", ["basic", "trainer", "wrapper"])
def test_the_same_weights(case):
    before, after = twins.pair(RULE, case)
    assert twins.difference(loops(before, case), loops(after, case)) <= twins.EXACT


@pytest.mark.parametrize("case", ["fp16 O1", "fp16 O2", "fp32 O1", "fp16 O0"])
def test_accumulation_and_clipping_under_a_flag(case):
    before, after = twins.pair(RULE, "flows")
    assert twins.difference(loops(before, case), loops(after, case)) <= twins.EXACT


def test_float32_needs_no_scaler():
    torch.manual_seed(0)
    before = twins.run(twins.ROOT / "fixtures" / RULE / "float32.in.py")
    torch.manual_seed(0)
    after = twins.run(twins.ROOT / "fixtures" / RULE / "float32.out.py")
    assert twins.difference(weights(before["model"]), weights(after["model"])) <= twins.EXACT
    assert "scaler" not in after


def test_a_static_scale_is_handed_on():
    _, after = twins.pair(RULE, "trainer")
    model, optimizer, _ = made()
    trainer = after["Trainer"](model, optimizer)
    assert (trainer.scaler.factor, trainer.scaler.dynamic) == (128.0, False)
