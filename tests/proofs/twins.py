"""The two sides of a fixture, run: what a rule was given and what it made of it."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from hypothesis import settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
EXACT = 1e-12
# Enough shapes to meet odd and even sizes, few enough for a shared machine.
quick = settings(max_examples=25, deadline=None, derandomize=True)
slow = settings(max_examples=8, deadline=None, derandomize=True)
seeds = st.integers(0, 2**31 - 1)


def run(path: Path) -> dict[str, Any]:
    """The names that a file defines; torch_npu need not be there."""
    sys.modules.setdefault("torch_npu", ModuleType("torch_npu"))
    names: dict[str, Any] = {"__name__": "twin"}
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fixtures use what newer versions of torch call old
        exec(code, names)  # noqa: S102  # our own fixtures
    return names


def pair(folder: str, case: str = "basic") -> tuple[dict[str, Any], dict[str, Any]]:
    """Before and after."""
    cases = ROOT / "fixtures" / folder
    return run(cases / f"{case}.in.py"), run(cases / f"{case}.out.py")


def tensor(shape, seed: int, *, spread: float = 3.0) -> torch.Tensor:
    """Random float64 values, some of them far out."""
    generator = torch.Generator().manual_seed(seed)
    return spread * torch.randn(shape, generator=generator, dtype=torch.float64)


def with_gradients(function, *inputs: torch.Tensor, parameters=()) -> list[torch.Tensor]:
    """Outputs of a function, and the gradients of its inputs and of parameters for a fixed cotangent."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    out = function(*inputs)
    cotangent = torch.linspace(0.5, 1.5, out.numel(), dtype=out.dtype).reshape(out.shape)
    wanted = [*inputs, *parameters]
    return [out.detach(), *torch.autograd.grad(out, wanted, cotangent)]


def difference(before: list[torch.Tensor], after: list[torch.Tensor]) -> float:
    """The greatest difference, relative to the greatest value."""
    assert len(before) == len(after)
    worst = 0.0
    for a, b in zip(before, after):
        assert a.shape == b.shape
        assert torch.isfinite(a).all()
        assert torch.isfinite(b).all()
        scale = a.abs().max().item() if a.numel() else 0.0
        worst = max(worst, (a - b).abs().max().item() / scale if scale else 0.0)
    return worst


def stated(folder: str) -> float:
    """The greatest relative difference that a rule's page owns up to."""
    return number(folder, r"Greatest relative difference measured[^:]*: (\d\S*?)[.,;]?\s")


def number(folder: str, pattern: str) -> float:
    """A number that a rule's page states."""
    (page,) = ROOT.glob(f"rules/*/{folder}/en.md")
    found = re.search(pattern, page.read_text(encoding="utf-8"))
    assert found, f"{page} says nothing like {pattern}"
    return float(found[1])
