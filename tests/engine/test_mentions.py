"""Which statements a rule with ``names`` is shown."""

from __future__ import annotations

import pytest

from npu_migrate.engine.mentions import mentions
from npu_migrate.engine.module import PythonModule
from npu_migrate.engine.text import SourceText

NAMES = ("torch.profiler",)


def lines(source: str) -> list[int]:
    module = PythonModule("case.py", SourceText.decode(source.encode()))
    return sorted({module.line_of(offset) for offset in mentions(module, NAMES, ("profile",))})


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ntorch.profiler.profile()\n", [2]),
        ("import torch as t\nt.profiler.profile()\n", [2]),
        ("from torch import profiler as p\np.schedule()\n", [1, 2]),
        ("from torch.profiler import schedule as s\nx = s(1)\n", [1, 2]),
        ("import torch.profiler\n", [1]),
        ("def f():\n    from torch import profiler\n    return profiler.schedule\n", [2, 3]),
        ("import torch\ntorch \\\n  .profiler.schedule()\n", [3]),
        ("import torch\np = torch.profiler\n", [2]),
        ("from utils import profile_with as p\np.schedule()\n", []),
        ("from torch import *\nprofiler.profile()\n", [2]),
    ],
)
def test_found(source, found):
    assert lines(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nprofile = 1\nprint(profile)\n",
        "import torch\nself.torch.profiler.profile()\n",
        "import torch\nmytorch.profiler()\n",
        "import torch\n# no profiler here\n",
        "from torchvision import profiler\nprofiler.profile()\n",
    ],
)
def test_left_alone(source):
    assert lines(source) == []
