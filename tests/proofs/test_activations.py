"""NPU501: the fused function has the values and gradients of what was written by hand."""

from __future__ import annotations

import torch
import twins
from hypothesis import given
from hypothesis import strategies as st

RULE = "npu501_custom_activation"
BASIC = twins.pair(RULE)
STEPS = twins.pair(RULE, "steps")
AUTOGRAD = twins.pair(RULE, "autograd")
OWN = twins.pair(RULE, "own_modules")
SPELLINGS = twins.pair(RULE, "spellings")
shapes = st.lists(st.integers(1, 7), min_size=1, max_size=4)

FUNCTIONS = {
    "class": (BASIC, lambda names: names["Swish"]()),
    "function": (BASIC, lambda names: names["hard_swish"]),
    "lambda": (BASIC, lambda names: names["mish"]),
    "steps": (STEPS, lambda names: names["swish"]),
    "steps of a method": (STEPS, lambda names: names["GELU"]()),
    "autograd function": (AUTOGRAD, lambda names: names["Mish"]()),
    "own submodule": (OWN, lambda names: names["h_swish"]()),
    "with a comment": (SPELLINGS, lambda names: names["erf_gelu"]),
}


def test_the_rule_is_exact():
    assert twins.stated(RULE) <= twins.EXACT


@twins.quick
@given(st.sampled_from(sorted(FUNCTIONS)), shapes, twins.seeds)
def test_values_and_gradients_agree(name, shape, seed):
    (before, after), make = FUNCTIONS[name]
    x = twins.tensor(shape, seed)
    old = twins.with_gradients(make(before), x)
    new = twins.with_gradients(make(after), x)
    assert twins.difference(old, new) <= twins.stated(RULE)


@twins.quick
@given(st.integers(1, 5), st.integers(1, 6), twins.seeds)
def test_every_spelling_agrees(channels, size, seed):
    before, after = (names["Block"](channels).double() for names in SPELLINGS)
    after.load_state_dict(before.state_dict())
    x = twins.tensor((2, channels, size, size), seed, spread=1.5)

    def all_of(block):
        return lambda x: torch.cat([part.flatten() for part in block(x)])

    old = twins.with_gradients(all_of(before), x, parameters=list(before.conv.parameters()))
    new = twins.with_gradients(all_of(after), x, parameters=list(after.conv.parameters()))
    assert twins.difference(old, new) <= twins.stated(RULE)


def test_the_gradient_of_hardsigmoid_itself_is_less_precise():
    """PyTorch keeps its 1/6 in float32, whatever the tensor's type; Hardswish does not."""
    x = twins.tensor((64,), 0)
    old = twins.with_gradients(SPELLINGS[0]["of_hardsigmoid"], x)
    new = twins.with_gradients(SPELLINGS[1]["of_hardsigmoid"], x)
    assert twins.difference(old[:1], new[:1]) <= twins.stated(RULE)
    assert twins.difference(old, new) <= 2e-8


@twins.quick
@given(shapes, twins.seeds)
def test_in_place_changes_the_same_tensor(shape, seed):
    old = twins.tensor(shape, seed)
    new = old.clone()
    SPELLINGS[0]["in_place"](old)
    SPELLINGS[1]["in_place"](new)
    assert twins.difference([old], [new]) <= twins.stated(RULE)


def test_a_pickled_instance_of_the_old_class_works_with_the_new_one():
    before, after = (names["Swish"] for names in BASIC)
    restored = after.__new__(after)
    restored.__dict__.update(before().__dict__)
    assert restored(torch.ones(1)).item() > 0
