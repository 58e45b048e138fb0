"""Precision, optimizers, random numbers, recurrent layers, checkpoints, data."""

from __future__ import annotations

import torch
import torch_npu
from torch import nn
from torch.nn import functional
from torch.utils import checkpoint
from torch.utils.data import DataLoader, TensorDataset

from expectations.marks import raises


def _step(model, optimizer, *data):
    optimizer.zero_grad()
    loss = model(*data).float().square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def _curve(make, data, place, steps=4):
    torch.manual_seed(0)
    model = make().to(place)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    return [_step(model, optimizer, data.to(place)) for _ in range(steps)]


def _near(first, second):
    assert max(abs(a - b) for a, b in zip(first, second)) <= 1e-6 * max(1.0, *map(abs, second)), (first, second)


def cnn_trains_as_on_cpu():
    def make():
        return nn.Sequential(
            nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 4)
        )

    data = torch.randn(4, 3, 8, 8)
    _near(_curve(make, data, "npu"), _curve(make, data, "cpu"))


def transformer_trains_as_on_cpu():
    def make():
        return nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    data = torch.randn(2, 5, 16)
    _near(_curve(make, data, "npu"), _curve(make, data, "cpu"))


class _Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer = kind(8, 6, 2, bidirectional=True)

    def forward(self, x):
        return self.layer(x)[0]


def lstm_trains_as_on_cpu():
    data = torch.randn(5, 3, 8)
    _near(_curve(lambda: _Recurrent(nn.LSTM), data, "npu"), _curve(lambda: _Recurrent(nn.LSTM), data, "cpu"))


def gru_trains_as_on_cpu():
    data = torch.randn(5, 3, 8)
    _near(_curve(lambda: _Recurrent(nn.GRU), data, "npu"), _curve(lambda: _Recurrent(nn.GRU), data, "cpu"))


def plain_rnn_trains_as_on_cpu():
    data = torch.randn(5, 3, 8)
    _near(_curve(lambda: _Recurrent(nn.RNN), data, "npu"), _curve(lambda: _Recurrent(nn.RNN), data, "cpu"))


def lstm_cell_runs():
    hidden, cell = nn.LSTMCell(4, 3).npu()(torch.randn(2, 4).npu())
    assert hidden.shape == cell.shape == (2, 3)


def autocast_lowers_a_product():
    with torch.autocast("npu", dtype=torch.float16):
        assert (torch.ones(2, 2).npu() @ torch.ones(2, 2).npu()).dtype is torch.float16


def autocast_takes_bfloat16():
    with torch.autocast("npu", dtype=torch.bfloat16):
        assert nn.Linear(2, 2).npu()(torch.ones(2, 2).npu()).dtype is torch.bfloat16


def autocast_lowers_a_convolution():
    with torch.npu.amp.autocast():
        assert nn.Conv2d(1, 1, 1).npu()(torch.ones(1, 1, 2, 2).npu()).dtype is torch.float16


def autocast_keeps_losses_wide():
    with torch.npu.amp.autocast():
        scores = nn.Linear(2, 2).npu()(torch.ones(2, 2).npu())
        assert functional.mse_loss(scores, torch.zeros_like(scores)).dtype is torch.float32
        assert scores.softmax(-1).dtype is torch.float32
        assert scores.exp().dtype is torch.float32
        assert scores.sum().dtype is torch.float32
        assert nn.LayerNorm(2).npu()(scores).dtype is torch.float32


def autocast_promotes_to_the_widest():
    with torch.npu.amp.autocast():
        narrow, wide = torch.ones(2).npu().half(), torch.ones(2).npu()
        assert torch.addcmul(wide, narrow, narrow).dtype is torch.float32


@raises(RuntimeError, "unsafe to autocast")
def autocast_bans_binary_cross_entropy():
    with torch.npu.amp.autocast():
        functional.binary_cross_entropy(torch.rand(2).npu(), torch.ones(2).npu())


def autocast_can_be_off_inside():
    with torch.npu.amp.autocast():
        assert torch.is_autocast_enabled("npu")
        with torch.npu.amp.autocast(enabled=False):
            assert (torch.ones(2, 2).npu() @ torch.ones(2, 2).npu()).dtype is torch.float32


def autocast_for_cuda_does_nothing_here():
    with torch.autocast("cuda", dtype=torch.float16):
        assert (torch.ones(2, 2).npu() @ torch.ones(2, 2).npu()).dtype is torch.float32


def autocast_decorates():
    @torch.npu.amp.autocast()
    def product(x):
        return x @ x

    assert product(torch.ones(2, 2).npu()).dtype is torch.float16


def scaler_steps_and_saves():
    model = nn.Linear(2, 2).npu()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.npu.amp.GradScaler(init_scale=8.0)
    before = model.weight.detach().clone()
    with torch.npu.amp.autocast():
        loss = model(torch.ones(2, 2).npu()).square().mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    assert not torch.equal(before, model.weight)
    assert scaler.state_dict()["scale"] == 8.0


def scaler_skips_infinite_gradients():
    model = nn.Linear(2, 2).npu()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("npu", init_scale=8.0)
    before = model.weight.detach().clone()
    scaler.scale(model(torch.ones(2, 2).npu()).sum() * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert torch.equal(before, model.weight)
    assert scaler.get_scale() == 4.0


def optimizers_step():
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad):
        model = nn.Linear(2, 2).npu()
        before = model.weight.detach().clone()
        _step(model, kind(model.parameters(), lr=0.1), torch.ones(1, 2).npu())
        assert not torch.equal(before, model.weight), kind


def optimizer_without_foreach_steps():
    model = nn.Linear(2, 2).npu()
    _step(model, torch.optim.AdamW(model.parameters(), foreach=False), torch.ones(1, 2).npu())


def optimizer_state_is_on_the_device():
    model = nn.Linear(2, 2).npu()
    optimizer = torch.optim.Adam(model.parameters())
    _step(model, optimizer, torch.ones(1, 2).npu())
    assert optimizer.state[model.weight]["exp_avg"].device.type == "npu"


def scheduler_and_clipping():
    model = nn.Linear(2, 2).npu()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    model(torch.ones(1, 2).npu()).sum().backward()
    assert nn.utils.clip_grad_norm_(model.parameters(), 0.1).device.type == "npu"
    optimizer.step()
    schedule.step()


def same_seed_same_numbers():
    torch.manual_seed(5)
    first = torch.rand(3, device="npu").tolist()
    torch.manual_seed(5)
    assert torch.rand(3, device="npu").tolist() == first


def device_seed_alone():
    torch.npu.manual_seed(3)
    first = torch.randn(3, device="npu").tolist()
    torch.npu.manual_seed_all(3)
    assert torch.randn(3, device="npu").tolist() == first


def device_draws_leave_the_host_alone():
    torch.manual_seed(5)
    first = torch.rand(2).tolist()
    torch.manual_seed(5)
    torch.rand(10, device="npu")
    functional.dropout(torch.ones(10).npu())
    assert torch.rand(2).tolist() == first


def state_of_the_generator():
    state = torch.npu.get_rng_state()
    first = torch.rand(3, device="npu").tolist()
    torch.npu.set_rng_state(state)
    assert torch.rand(3, device="npu").tolist() == first


def states_of_all_generators():
    states = torch.npu.get_rng_state_all()
    assert len(states) == torch.npu.device_count()
    first = torch.rand(3, device="npu:1").tolist()
    torch.npu.set_rng_state_all(states)
    assert torch.rand(3, device="npu:1").tolist() == first


def fork_of_the_generator():
    state = torch.npu.get_rng_state()
    with torch.random.fork_rng(device_type="npu"):
        torch.rand(3, device="npu")
    assert torch.equal(state, torch.npu.get_rng_state())


def own_generator():
    generator = torch.Generator(device="npu").manual_seed(7)
    assert generator.device.type == "npu"
    first = torch.rand(3, device="npu", generator=generator).tolist()
    generator.manual_seed(7)
    assert torch.rand(3, device="npu", generator=generator).tolist() == first
    assert isinstance(torch.default_generator, torch.Generator)


def dropout_and_random_layers():
    torch.manual_seed(1)
    x = functional.dropout(torch.ones(1000).npu(), 0.5)
    assert 300 < (x > 0).sum().item() < 700
    assert torch.bernoulli(torch.full((8,), 0.5).npu()).device.type == "npu"
    assert torch.multinomial(torch.ones(4).npu(), 2).device.type == "npu"
    assert torch.empty(2).npu().normal_().device.type == "npu"


def gradient_checkpointing_equals_plain():
    layer = nn.Linear(3, 3).npu()
    x = torch.randn(2, 3).npu().requires_grad_()
    checkpoint.checkpoint(layer, x, use_reentrant=False).sum().backward()
    first = x.grad.clone()
    x.grad = None
    layer(x).sum().backward()
    assert torch.equal(first, x.grad)


def reentrant_checkpointing_runs():
    x = torch.randn(2, 3).npu().requires_grad_()
    checkpoint.checkpoint(nn.Sequential(nn.Linear(3, 3), nn.Dropout()).npu(), x, use_reentrant=True).sum().backward()
    assert x.grad is not None


def loader_pins_and_moves():
    data = TensorDataset(torch.randn(8, 2), torch.arange(8))
    for x, y in DataLoader(data, 4, pin_memory=True):
        assert x.is_pinned()
        assert x.to("npu", non_blocking=True).device.type == "npu"
        assert y.npu().device.type == "npu"


def loader_with_workers():
    data = TensorDataset(torch.arange(8.0))
    seen = [x.npu().sum().item() for (x,) in DataLoader(data, 4, num_workers=1, pin_memory=True)]
    assert seen == [6.0, 22.0]


class _OnDevice(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.ones(1).npu() * index


@raises(RuntimeError, "spawn")
def forked_worker_may_not_use_the_device():
    torch.ones(1).npu()
    list(DataLoader(_OnDevice(), 1, num_workers=1, multiprocessing_context="fork"))


def fused_optimizer_clips():
    model = nn.Linear(2, 2).npu()
    optimizer = torch_npu.optim.NpuFusedAdamW(model.parameters(), lr=0.1)
    model(torch.ones(1, 2).npu()).sum().backward()
    optimizer.clip_grad_norm_fused_(1.0)
    optimizer.step()


@raises(NotImplementedError, "DistributedDataParallel")
def data_parallel_is_refused():
    nn.DataParallel(nn.Linear(2, 2).npu(), device_ids=[0, 1])(torch.ones(4, 2).npu())


def compile_eager_runs():
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)).npu()
    x = torch.randn(3, 4).npu()
    torch.testing.assert_close(torch.compile(model, backend="eager")(x).cpu(), model(x).cpu())


def compile_aot_eager_trains():
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)).npu()
    torch.compile(model, backend="aot_eager")(torch.randn(3, 4).npu()).sum().backward()
    assert model[0].weight.grad.device.type == "npu"


def attention_equals_cpu():
    q = torch.randn(2, 2, 4, 8)
    ours = functional.scaled_dot_product_attention(q.npu(), q.npu(), q.npu(), is_causal=True)
    torch.testing.assert_close(ours.cpu(), functional.scaled_dot_product_attention(q, q, q, is_causal=True))


def traced_module_runs():
    model = nn.Linear(3, 3).npu()
    x = torch.randn(2, 3).npu()
    torch.testing.assert_close(torch.jit.trace(model, x)(x).cpu(), model(x).cpu())


def half_precision_inference():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.SiLU()).npu().half().eval()
    assert model(torch.randn(1, 3, 8, 8).npu().half()).dtype is torch.float16
