"""NPU504 keeps every bit; NPU505 and NPU506 are other functions, and what their pages say of them is true."""

from __future__ import annotations

import pytest
import torch
import twins
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from npu_migrate import packs
from npu_migrate.engine import fixtures

POOL, CONV, PYRAMID = "npu504_max_pool_5x5", "npu505_conv_5x5", "npu506_pyramid_sizes"
POOLS, CONVS, SPELLINGS = twins.pair(POOL), twins.pair(CONV), twins.pair(CONV, "spellings")
sizes = st.integers(5, 17)


@pytest.mark.parametrize("name", ["pool", "smooth"])
@twins.quick
@given(st.integers(1, 17), st.integers(1, 17), twins.seeds)
def test_two_small_pools_are_the_large_one(name, height, width, seed):
    before, after = (names[name] for names in POOLS)
    x = twins.tensor((2, 3, height, width), seed)
    old, new = twins.with_gradients(before, x), twins.with_gradients(after, x)
    assert torch.equal(old[0], new[0])
    assert twins.difference(old, new) <= twins.stated(POOL) <= twins.EXACT


def convolutions():
    """Each 5x5 of the fixtures beside the two 3x3 it becomes."""
    yield CONVS[0]["body"], CONVS[1]["body"]
    for old, new in zip(SPELLINGS[0]["layers"](4, 6), SPELLINGS[1]["layers"](4, 6)):
        if isinstance(new, nn.Sequential):
            yield old, new


PAIRS = list(convolutions())


@pytest.mark.parametrize(("old", "new"), PAIRS)
@twins.slow
@given(sizes, sizes)
def test_two_small_convolutions_give_maps_of_the_same_size(old, new, height, width):
    x = torch.zeros(1, old.in_channels, height, width)
    assert old(x).shape == new(x).shape


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_two_small_convolutions_see_the_same_window(old, new):
    def window(layer):
        x = torch.randn(1, old.in_channels, 21, 21, requires_grad=True)
        out = layer(x)
        (seen,) = torch.autograd.grad(out[0, :, out.shape[2] // 2, out.shape[3] // 2].sum(), x)
        return seen.abs().sum((0, 1)).nonzero().aminmax(dim=0)

    assert [corner.tolist() for corner in window(old)] == [corner.tolist() for corner in window(new)]


def test_the_parameter_counts_in_the_report_are_true():
    info = packs.load().find("NPU505")
    stem, body = (dict(f.text.facts) for f in fixtures.run(info.fixtures / "basic.in.py", info).findings)
    counts = [f"{sum(p.numel() for p in names['body'].parameters()):,}" for names in CONVS]
    assert [body["one"], body["two"]] == counts
    assert int(stem["two"].replace(",", "")) > int(stem["one"].replace(",", ""))


def test_smaller_pyramids_change_many_outputs():
    before, after = (names["SPP"](4) for names in twins.pair(PYRAMID))
    x = twins.tensor((8, 4, 20, 20), 0)
    changed = (before(x) != after(x)).double().mean().item()
    assert changed == pytest.approx(twins.number(PYRAMID, r"(\d+) % of the outputs") / 100, abs=0.01)
