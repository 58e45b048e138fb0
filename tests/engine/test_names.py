"""What a name means: aliases in every form, scopes, shadowing, and names handed on between files."""

from __future__ import annotations

import pytest
from helpers import migrated, statuses, tree

from npu_migrate.engine.module import PythonModule
from npu_migrate.engine.text import SourceText

MEANINGS = {
    "plain": ("import torch\n", "torch.cuda.amp", "torch.cuda.amp"),
    "alias": ("import torch as th\n", "th.cuda", "torch.cuda"),
    "submodule alias": ("import torch.cuda.amp as amp\n", "amp.autocast", "torch.cuda.amp.autocast"),
    "from": ("from torch import cuda\n", "cuda.Event", "torch.cuda.Event"),
    "from as": ("from torch.cuda import amp as a\n", "a.GradScaler", "torch.cuda.amp.GradScaler"),
    "value alias": ("import torch\nc = torch.cuda\n", "c.Event", "torch.cuda.Event"),
    "try except": (
        "try:\n    from torch.cuda import amp\nexcept ImportError:\n    amp = None\n",
        "amp.autocast",
        "torch.cuda.amp.autocast",
    ),
    "either package": (
        "try:\n    from apex import amp\nexcept ImportError:\n    from torch.cuda import amp\n",
        "amp.x",
        "torch.cuda.amp.x",
    ),
    "rebound": ("from torch.cuda import amp\namp = make()\n", "amp.autocast", None),
    "foreign": ("from numba import cuda\n", "cuda.jit", "numba.cuda.jit"),
    "star": ("from torch.cuda.amp import *\n", "autocast", "torch.cuda.amp.autocast"),
    "unbound": ("", "torch.cuda", None),
    "own class": ("class torch:\n    cuda = 1\n", "torch.cuda", None),
}


@pytest.mark.parametrize("case", MEANINGS)
def test_meaning_at_module_level(case):
    source, expression, expected = MEANINGS[case]
    module = PythonModule("case.py", SourceText.decode(source.encode()))
    assert module.names.meaning(expression.split("."), module.table.module).name == expected


SCOPES = {
    "a parameter hides the module": "import torch\ndef f(torch):\n    return torch.cuda.is_available()\n",
    "a local variable hides the module": (
        "import torch\ndef f():\n    torch = load()\n    return torch.cuda.is_available()\n"
    ),
    "a class of that name": "class torch:\n    pass\nprint(torch.cuda.is_available())\n",
}


@pytest.mark.parametrize("case", SCOPES)
def test_a_hidden_module_is_left_alone(case):
    assert migrated(SCOPES[case]) == SCOPES[case]


SEEN = {
    "global statement": "import torch\ndef f():\n    global torch\n    return torch.cuda.is_available()\n",
    "function-local import": "def f():\n    import torch as t\n    return t.cuda.is_available()\n",
    "lambda": "import torch\nf = lambda: torch.cuda.is_available()\n",
    "default argument": "import torch\ndef f(x=torch.cuda.device_count()):\n    return x\n",
    "decorator": "import torch\n@torch.cuda.amp.autocast()\ndef f(x):\n    return x\n",
    "f-string": 'import torch\nprint(f"{torch.cuda.device_count()} cards")\n',
    "a name in the class body does not hide it in methods": (
        "import torch\nclass A:\n    torch = 1\n    def f(self):\n        return torch.cuda.is_available()\n"
    ),
    "elif": "import torch\nif a:\n    pass\nelif torch.cuda.is_available():\n    pass\n",
    "except": "import torch\ntry:\n    pass\nexcept torch.cuda.OutOfMemoryError:\n    pass\n",
    "with": "import torch\nwith torch.cuda.device(0):\n    pass\n",
    "while one line": "import torch\nwhile torch.cuda.is_available(): break\n",
    "continuation": "import torch\nx = 1 + \\\n    torch.cuda.device_count()\n",
    "comprehension": "import torch\nx = [torch.cuda.device(i) for i in range(torch.cuda.device_count())]\n",
}


@pytest.mark.parametrize("case", SEEN)
def test_a_visible_module_is_rewritten(case):
    got = migrated(SEEN[case])
    assert "torch.cuda" not in got.replace("th.cuda", "torch.cuda")
    assert "t.cuda" not in got
    compile(got, case, "exec")


def test_a_name_handed_on_by_another_file(tmp_path):
    found = tree(
        tmp_path,
        {
            "utils/__init__.py": "",
            "utils/torch_utils.py": "from torch.cuda import amp as cuda_amp\n",
            "train.py": "from utils.torch_utils import cuda_amp as a\nwith a.autocast():\n    pass\na.no_such()\n",
        },
    )
    assert (2, "NPU201", "kept") in statuses(found["train.py"])
    assert (4, "NPU201", "unsupported") in statuses(found["train.py"])
    assert not found["train.py"].changed


def test_names_that_a_function_binds_for_the_module(tmp_path):
    source = (
        "global dist\n\n\ndef setup():\n    global dist, place\n    import torch.distributed as dist\n\n"
        "    place = 'cuda'\n    dist.init_process_group('nccl')\n\n\n"
        "def other():\n    global dist\n    import deepspeed.comm as dist\n\n    dist.init_process_group('nccl')\n\n\n"
        "def use(x):\n    global unbound\n    dist.new_group(backend='nccl')\n    unbound.new_group(x)\n"
        "    return x.to(place)\n"
    )
    text = tree(tmp_path, {"a.py": source})["a.py"].new.decode()
    assert "    place = 'npu'" in text
    assert "dist.new_group(backend='hccl')" in text


def test_a_module_of_the_tree_called_cuda_is_its_own(tmp_path):
    found = tree(
        tmp_path,
        {"lib/__init__.py": "", "lib/cuda.py": "def setup(): pass\n", "a.py": "from lib import cuda\ncuda.setup()\n"},
    )
    assert not found["a.py"].changed


def test_import_cycles_end(tmp_path):
    found = tree(tmp_path, {"a.py": "from b import cuda\ncuda.x()\n", "b.py": "from a import cuda\n"})
    assert set(found) == {"a.py", "b.py"}


def test_helpers_of_the_tree_are_no_kernels_for_the_name_of_their_file(tmp_path):
    uses = (
        "import torch\nfrom utils.cuda_helpers import prefetch\nfrom utils import cuda_helpers\nimport scan_cuda\n\n"
        "if torch.cuda.is_available():\n    x = prefetch(x)\nif x.is_cuda:\n    cuda_helpers.prefetch(x)\n"
        "if x.is_cuda:\n    scan_cuda.forward(x)\n"
    )
    found = tree(tmp_path, {"utils/cuda_helpers.py": "def prefetch(x):\n    return x.cuda()\n", "a.py": uses})
    text = found["a.py"].new.decode()
    assert ("if torch.npu.is_available():" in text, text.count("if x.is_npu:"), text.count("if x.is_cuda:")) == (
        True,
        1,
        1,
    )
