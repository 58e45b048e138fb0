"""``import torch_npu`` stands where it has run before it is needed, and nowhere else."""

from __future__ import annotations

import pytest
from helpers import migrated, tree

CASES = {
    "after import torch": (
        "import os\nimport torch\nimport sys\nx.cuda()\n",
        "import os\nimport torch\nimport torch_npu\nimport sys\n",
    ),
    "after from torch import": (
        "from torch import nn\nnn.Linear(1, 1).cuda()\n",
        "from torch import nn\nimport torch_npu\n",
    ),
    "after the visible devices": (
        'import torch\nimport os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nx.cuda()\n',
        '= "0"\nimport torch_npu\nx.npu()\n',
    ),
    "guarded beside a guarded torch": (
        "try:\n    import torch\nexcept ImportError:\n    torch = None\nprint(torch.cuda.device_count())\n",
        "torch = None\ntry:\n    import torch_npu\nexcept ImportError:\n    pass\nprint(",
    ),
    "inside the function that imports torch": (
        "def f(x):\n    import torch\n    return x.cuda(), torch\n",
        "    import torch\n    import torch_npu\n    return x.npu()",
    ),
    "at the top where torch is not imported": (
        '"""Doc."""\nimport os\n\n\ndef f(x):\n    return x.cuda()\n',
        "import os\nimport torch_npu\n",
    ),
    "below the docstring of a file without imports": (
        '"""Doc."""\n\ndef f(x):\n    return x.cuda()\n',
        '"""Doc."""\nimport torch_npu\n',
    ),
    "below the encoding and shebang": (
        "#!/usr/bin/python\n# -*- coding: utf-8 -*-\nx.cuda()\n",
        "utf-8 -*-\nimport torch_npu\n",
    ),
    "not under TYPE_CHECKING": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n\ndef f(x):\n    return x.cuda()\n",
        "TYPE_CHECKING\nimport torch_npu\nif TYPE_CHECKING:\n    import torch\n",
    ),
    "after the future import": (
        "from __future__ import annotations\nimport torch\nx.cuda()\n",
        "annotations\nimport torch\nimport torch_npu\n",
    ),
    "on a line after a semicolon": (
        "import os; import torch\nx.cuda()\n",
        "import os; import torch\nimport torch_npu\n",
    ),
    "before a line that imports and uses": (
        "import os\nimport torch; torch.cuda.set_device(0)\n",
        "import os\nimport torch_npu\nimport torch; torch.npu.set_device(0)\n",
    ),
    "before a compound line that imports and uses": (
        "if fast: import torch; x = torch.ones(1).cuda()\n",
        "import torch_npu\nif fast: import torch; x = torch.ones(1).npu()\n",
    ),
    "inside the try that uses what it imports": (
        "try:\n    import torch\n    N = torch.cuda.device_count()\nexcept ImportError:\n    N = 0\n",
        "try:\n    import torch\n    import torch_npu\n    N = torch.npu.device_count()\nexcept",
    ),
    "never before a future import": (
        "from __future__ import annotations; import torch; torch.cuda.set_device(0)\n",
        "torch.npu.set_device(0)\nimport torch_npu\n",
    ),
    "with the file's line ending": ("import torch\r\nx.cuda()\r\n", "import torch\r\nimport torch_npu\r\nx.npu()\r\n"),
    "at the end of a file without a last newline": (
        "import os, torch\ntorch.cuda",
        "import os, torch\nimport torch_npu\ntorch.npu",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_import_goes(case):
    source, expected = CASES[case]
    got = migrated(source)
    assert expected in got
    assert got.count("import torch_npu") == 1


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nimport torch_npu\nx.cuda()\n",
        "import torch\nfrom torch_npu.contrib import npu_fused_attention\nx.cuda()\n",
    ],
)
def test_a_file_that_imports_it_gets_no_second_import(source):
    assert migrated(source).count("torch_npu") == source.count("torch_npu")


def test_imports_none_leaves_them_to_the_caller():
    assert migrated("import torch\nx.cuda()\n", imports="none") == "import torch\nx.npu()\n"


def test_a_configuration_without_torch_needs_no_import():
    assert migrated('device = "cuda"\n') == 'device = "npu"\n'


def test_imports_entry_puts_one_guarded_import_where_a_program_starts(tmp_path):
    found = tree(
        tmp_path,
        {
            "lib/__init__.py": "",
            "lib/net.py": "import torch\n\n\ndef put(x):\n    return x.cuda()\n",
            "train.py": "from lib import net\n\nnet.put(1)\n",
            "main.py": "import torch\n\nif __name__ == '__main__':\n    torch.cuda.synchronize()\n",
            "tools/text.py": "import os\n",
        },
        imports="entry",
    )
    guarded = "try:\n    import torch_npu\nexcept ImportError:\n    pass\n"
    assert found["lib/net.py"].new.decode() == "import torch\n\n\ndef put(x):\n    return x.npu()\n"
    assert found["train.py"].new.decode() == f"from lib import net\n{guarded}\nnet.put(1)\n"
    assert found["main.py"].new.decode().startswith(f"import torch\n{guarded}\nif")
    assert not found["tools/text.py"].changed


def test_imports_entry_still_imports_where_the_new_text_says_the_name(tmp_path):
    marks = 'import torch\n\n\ndef mark():\n    torch.cuda.nvtx.range_push("x")\n'
    files = {"lib/__init__.py": "", "lib/marks.py": marks, "train.py": "from lib import marks\n\nmarks.mark()\n"}
    new = tree(tmp_path, files, imports="entry")["lib/marks.py"].new.decode()
    assert new.startswith("import torch\nimport torch_npu\n")
    assert 'torch_npu.npu.mstx.range_push("x")' in new
