"""NPU503: chained pools have the values of parallel ones, bit for bit."""

from __future__ import annotations

import pytest
import torch
import twins
from hypothesis import given
from hypothesis import strategies as st

PARALLEL = "npu503_parallel_pools"
NAMED = twins.pair(PARALLEL, "named")
BASIC = twins.pair(PARALLEL)
sizes = st.tuples(st.integers(1, 2), st.integers(1, 4), st.integers(1, 17), st.integers(1, 17))


@pytest.mark.parametrize("name", ["YoloX", "Darknet", "Mixed"])
@twins.quick
@given(shape=sizes, seed=twins.seeds)
def test_outputs_are_bitwise_equal(name, shape, seed):
    before, after = (names[name]() for names in NAMED)
    x = twins.tensor(shape, seed)
    old, new = twins.with_gradients(before, x), twins.with_gradients(after, x)
    assert torch.equal(old[0], new[0])
    assert twins.difference(old, new) <= twins.stated(PARALLEL) <= twins.EXACT


@twins.quick
@given(sizes, st.lists(st.integers(1, 13), min_size=1, max_size=4), twins.seeds)
def test_any_sizes_in_any_order(shape, kernels, seed):
    """Sizes come from YAML files: even ones, falling ones and repeated ones must not break what worked."""
    batch, channels, *rest = shape
    before, after = (names["SPP"](2 * channels, 3, tuple(kernels)).double() for names in BASIC)
    after.load_state_dict(before.state_dict())
    x = twins.tensor((batch, 2 * channels, *rest), seed)
    try:
        old = twins.with_gradients(before, x, parameters=tuple(before.parameters()))
    except RuntimeError:
        with pytest.raises(RuntimeError):
            after(x)
        return
    new = twins.with_gradients(after, x, parameters=tuple(after.parameters()))
    assert twins.difference(old, new) <= twins.stated(PARALLEL)


@twins.quick
@given(sizes, twins.seeds)
def test_where_values_are_equal_another_of_them_may_get_the_gradient(shape, seed):
    before, after = (names["YoloX"]() for names in NAMED)
    x = twins.tensor(shape, seed).round().clamp(min=0)
    old, new = twins.with_gradients(before, x), twins.with_gradients(after, x)
    assert torch.equal(old[0], new[0])
    torch.testing.assert_close(old[1].sum(), new[1].sum())


def test_an_old_pickled_module_gives_its_own_sizes():
    before, after = (names["SPP"] for names in BASIC)
    old = before(4, 4, (5, 9, 13))
    restored = after.__new__(after)
    restored.__dict__.update(old.__dict__)
    x = torch.randn(1, 4, 20, 20)
    assert torch.equal(old(x), restored(x))
