"""NPU502: the strided convolution computes what slices, joining and convolution did; old state dicts load into it."""

from __future__ import annotations

import pytest
import torch
import twins
from hypothesis import given
from hypothesis import strategies as st

RULE = "npu502_focus"
ORDER = ((0, 0), (1, 0), (0, 1), (1, 1))
PAIRS = {case: twins.pair(RULE, case) for case in ("basic", "direct", "yolox")}
# A class, how to make one for c channels and kernel k, and where its convolution is.
CLASSES = {
    "yolov5": ("basic", lambda names, c, k: names["Focus"](c, 5, k), "conv.conv.weight"),
    "yolov5 with stride and padding": ("basic", lambda names, c, k: names["Focus"](c, 5, k, 2, 1), "conv.conv.weight"),
    "yolox": ("yolox", lambda names, c, k: names["Focus"](c, 5, k | 1), "conv.conv.weight"),
    "sequential": ("direct", lambda names, c, k: names["Downsample"](c, 5, k), "body.0.weight"),
    "own wrapper": ("direct", lambda names, c, k: names["Outer"](c, 5, k), "conv.conv.weight"),
}


def agree(before, after, x, key, order=ORDER):
    """Outputs, and the gradients of input and parameters, those of the convolution rearranged alike."""
    after.load_state_dict(before.state_dict())
    old = twins.with_gradients(before, x, parameters=list(before.parameters()))
    new = twins.with_gradients(after, x, parameters=list(after.parameters()))
    index = 2 + [name for name, _ in before.named_parameters()].index(key)
    weight = new[index]
    new[index] = torch.cat([weight[:, :, row::2, column::2] for row, column in order], 1)
    return twins.difference(old, new)


@pytest.mark.parametrize("name", CLASSES)
@twins.quick
@given(st.integers(1, 3), st.integers(1, 5), st.tuples(st.integers(3, 8), st.integers(3, 8)), twins.seeds)
def test_outputs_and_gradients_agree(name, channels, kernel, half, seed):
    case, make, key = CLASSES[name]
    before, after = (make(names, channels, kernel).double() for names in PAIRS[case])
    x = twins.tensor((2, channels, 2 * half[0], 2 * half[1]), seed)
    assert agree(before, after, x, key) <= twins.stated(RULE)


def test_another_order_of_the_slices():
    before, after = (names["Stem"](3, 4).double() for names in PAIRS["direct"])
    x = twins.tensor((2, 3, 10, 14), 0)
    assert agree(before, after, x, "reduce.weight", ((0, 0), (0, 1), (1, 0), (1, 1))) <= twins.stated(RULE)


def test_a_state_dict_of_the_new_shape_loads_unchanged():
    new = PAIRS["basic"][1]["Focus"]
    first, second = new(3, 8, 3), new(3, 8, 3)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first.conv.conv.weight, second.conv.conv.weight)


def test_the_state_dict_that_is_loaded_is_not_changed():
    before, after = (names["Focus"](3, 8, 3) for names in PAIRS["basic"])
    state = before.state_dict()
    torch.nn.Sequential(after).load_state_dict({f"0.{key}": value for key, value in state.items()})
    assert state["conv.conv.weight"].shape == (8, 12, 3, 3)


def test_groups_are_refused():
    """Groups would mix other channels: such a checkpoint must not load as if nothing were different."""
    before, after = (names["Focus"](4, 8, 3, 1, None, 4) for names in PAIRS["basic"])
    with pytest.raises(RuntimeError, match="size mismatch"):
        after.load_state_dict(before.state_dict())
