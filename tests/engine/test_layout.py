"""A statement is migrated the same way wherever it stands on its line."""

from __future__ import annotations

import pytest
from helpers import migrated

HEAD = "import os\nimport torch\nimport torch.distributed as dist\nx = torch.ones(1)\n"
STATEMENTS = [
    "y = x.is_cuda",
    "y = x.cuda()",
    'y = x.to("cuda")',
    'os.environ["CUDA_VISIBLE_DEVICES"] = "0"',
    'os.environ["CUDA_LAUNCH_BLOCKING"] = "1"',
    'y = dist.get_backend() == "nccl"',
    'dist.init_process_group("nccl")',
    "y = x.type() == 'torch.cuda.FloatTensor'",
    'y = x.device.type == "cuda"',
    "n = torch.cuda.device_count()",
    'g = torch.Generator(device="cuda")',
]
LAYOUTS = {
    "first of two": "{}; z = 1",
    "last of two": "z = 1; {}",
    "between": "z = 1; {}; z = 2",
    "after a multi-line one": "z = (1,\n     2); {}",
    "behind if": "if z: {}",
    "behind for": "for z in [1]: {}",
    "behind with": "with open(z): {}",
    "in a one-line function": "def f(): {}",
    "in a one-line try": "try: {}\nexcept Exception: z = 1",
    "behind else": "if z:\n    z = 1\nelse: {}",
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=list(LAYOUTS))
@pytest.mark.parametrize("statement", STATEMENTS)
def test_wherever(statement, layout):
    alone = migrated(HEAD + statement + "\n")
    new = alone.splitlines()[-1]
    assert new != statement
    assert layout.format(new) in migrated(HEAD + layout.format(statement) + "\n").replace("\nimport torch_npu", "")


@pytest.mark.parametrize(
    "header",
    ["if x.is_cuda: pass", "while x.is_cuda: pass", "for z in [x.is_cuda]: pass", "with f(x.is_cuda): pass"],
)
def test_the_header_of_a_one_line_compound(header):
    assert header.replace("cuda", "npu") in migrated(HEAD + header + "\n")


def test_a_one_line_method_and_its_callers():
    source = "import torch\nclass Timer:\n    def cuda(self): return self\nTimer().cuda()\n"
    assert "def npu(self): return self\nTimer().npu()" in migrated(source)
