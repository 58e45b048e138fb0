"""What the pages and messages of NPU80x offer instead gives the same result."""

from __future__ import annotations

import re
import runpy

import pytest
import torch
from torch import nn
from torch.nn import functional

from npu_migrate import packs
from npu_migrate.operators import judge
from npu_migrate.operators.tables import others
from npu_migrate.operators.uses import Use
from npu_migrate.target import load


@pytest.fixture(autouse=True)
def double_precision():
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(usual)


torch.manual_seed(0)
SQUARE = (torch.randn(5, 5) + 5 * torch.eye(5)).double()
POSITIVE = SQUARE @ SQUARE.T
LINE, BLOCK = torch.randn(2, 3, 16).double(), torch.randn(2, 3, 8, 8, 8).double()

SAME = {
    "torch.cholesky": lambda: (torch.cholesky(POSITIVE), torch.linalg.cholesky(POSITIVE)),
    "torch.Tensor.cholesky": lambda: (POSITIVE.cholesky(), torch.linalg.cholesky(POSITIVE)),
    "torch.linalg.inv": lambda: (torch.linalg.inv(SQUARE), torch.inverse(SQUARE)),
    "torch.linalg.slogdet": lambda: (torch.stack(torch.linalg.slogdet(SQUARE)), torch.stack(torch.slogdet(SQUARE))),
    "torch.nn.MaxPool1d": lambda: (nn.MaxPool1d(3, 2)(LINE), functional.max_pool1d(LINE, 3, 2)),
    "torch.nn.MaxPool3d": lambda: (nn.MaxPool3d(3, 2)(BLOCK), functional.max_pool3d(BLOCK, 3, 2)),
    "torch.std_mean": lambda: (torch.stack(torch.std_mean(LINE, 1)), torch.stack((LINE.std(1), LINE.mean(1)))),
    "torch.var_mean": lambda: (torch.stack(torch.var_mean(LINE, 1)), torch.stack((LINE.var(1), LINE.mean(1)))),
}


@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
@pytest.mark.parametrize("name", SAME)
def test_another_name_gives_the_same(name):
    assert others(name)
    torch.testing.assert_close(*SAME[name](), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("release", ["2.1.0", "2.7.1", "2.13.0"])
def test_another_name_is_offered_only_where_it_is_fine(release):
    target = load(release)
    for name in SAME:
        found = judge(target, Use(name, None))
        offered = found.instead if found is not None else ()
        assert [one for one in offered if judge(target, Use(one, None)) is not None] == []


@pytest.fixture(scope="module", params=["en", "zh"])
def page(request, tmp_path_factory):
    """The functions on the page."""
    text = packs.load().find("NPU805").page(request.param).read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[-1]
    path = tmp_path_factory.mktemp("page") / "code.py"
    path.write_text(code, encoding="utf-8")
    return runpy.run_path(str(path), {"torch": torch})


def test_a_padded_batch_gives_what_packing_gives(page):
    lstm, lengths = nn.LSTM(4, 6, num_layers=2, batch_first=True), torch.tensor([7, 3, 5])
    inputs = [torch.randn(3, 7, 4, requires_grad=True)]
    inputs.append(inputs[0].detach().clone().requires_grad_())
    packed = nn.utils.rnn.pack_padded_sequence(inputs[0], lengths, batch_first=True, enforce_sorted=False)
    output, (hidden, _) = lstm(packed)
    expected = nn.utils.rnn.pad_packed_sequence(output, batch_first=True)[0]
    got, last = page["unpacked_lstm"](lstm, inputs[1], lengths)
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(last, hidden[-1])
    weights = torch.randn_like(expected)
    (expected * weights).sum().backward()
    (got * weights).sum().backward()
    torch.testing.assert_close(inputs[1].grad, inputs[0].grad)


@pytest.mark.parametrize("hard", [False, True])
def test_gumbel_softmax_written_out(page, hard):
    logits = [torch.randn(4, 9, requires_grad=True)]
    logits.append(logits[0].detach().clone().requires_grad_())
    results = []
    for function, one in zip((functional.gumbel_softmax, page["gumbel_softmax"]), logits):
        torch.manual_seed(1)
        results.append(function(one, tau=0.7, hard=hard))
        (results[-1] * torch.arange(9.0)).sum().backward()
    torch.testing.assert_close(*results)
    torch.testing.assert_close(logits[0].grad, logits[1].grad)


@pytest.mark.parametrize("delta", [1.0, 0.3])
def test_huber_loss_is_a_scaled_smooth_l1_loss(delta):
    x, y = torch.randn(2, 3, 16)
    torch.testing.assert_close(
        functional.huber_loss(x, y, delta=delta), delta * functional.smooth_l1_loss(x, y, beta=delta)
    )


def test_vmap_has_two_names():
    assert torch.vmap is torch.func.vmap


def test_log_target_by_hand():
    x, y = torch.randn(2, 3, 16).log_softmax(-1)
    torch.testing.assert_close(
        functional.kl_div(x, y, reduction="sum", log_target=True), functional.kl_div(x, y.exp(), reduction="sum")
    )
