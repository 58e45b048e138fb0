"""What the structure and precision rules write exists, and runs natively, in every known release."""

from __future__ import annotations

import pytest

from npu_migrate.structure.activations import functions
from npu_migrate.structure.formula import variable
from npu_migrate.target import load
from npu_migrate.target.store import table

RELEASES = sorted(table("releases")["releases"])
ACTIVATIONS = sorted({name.replace("_tanh", "") for name in functions(variable("x"))})


@pytest.mark.parametrize("release", RELEASES)
def test_the_gradient_scaler_is_there(release):
    assert load(release).has("torch_npu.npu.amp.GradScaler")


@pytest.mark.parametrize("name", [*ACTIVATIONS, "max_pool2d_with_indices", "convolution"])
@pytest.mark.parametrize("release", RELEASES)
def test_operators_that_a_release_has_run_natively(release, name):
    operator = load(release).operator(name)
    assert operator is None or operator.worst.rank == 0


def test_the_oldest_release_lacks_some():
    """Guards the test above; the rule then only reports."""
    assert load("1.8.1").operator("mish") is None
