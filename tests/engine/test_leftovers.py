"""Words about CUDA that no rule answers: what is said of them is true."""

from __future__ import annotations

import pytest
from helpers import result


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("from torch.nn.attention import SDPBackend\nx = SDPBackend.CUDNN_ATTENTION\n", "CUDNN_ATTENTION"),
        ("from torch.testing._internal import common_cuda\n", "common_cuda"),
        ("from torch.testing._internal.common_cuda import TEST_CUDA\n", "common_cuda"),
        ("import torch\ntorch.something.cuda_part.run()\n", "torch"),
        ("import torch.cuda_something\n", "torch"),
    ],
)
def test_parts_of_torch_are_for_people_to_look_at(source, said):
    findings = result(source).findings
    assert [(f.rule, f.status.value) for f in findings] == [("NPU199", "manual")]
    assert findings[0].text.key.rpartition(".")[2] == said


def test_a_use_of_what_was_imported_is_said_once():
    findings = result("from torch.testing._internal.common_cuda import TEST_CUDA\nif TEST_CUDA:\n    run()\n").findings
    assert [(f.span.line, f.text.key.rpartition(".")[2], f.status.value) for f in findings] == [
        (1, "common_cuda", "manual"),
        (2, "imported", "kept"),
    ]


@pytest.mark.parametrize("source", ["from mylib import cuda_tools\n", "from .torch import cuda_tools\n"])
def test_other_imports_stay(source):
    assert [(f.text.key, f.status.value) for f in result(source).findings] == [("import", "kept")]


def test_what_one_rule_answers_no_other_repeats():
    findings = result("import torch\ny = torch.cuda.comm.gather(xs)\n").findings
    assert [f.rule for f in findings] == ["NPU201"]


def test_the_module_of_an_import_is_answered_with_its_names():
    findings = result("from torch.cuda import nvtx\nfrom torch.cuda.nvtx import range as mark\n").findings
    assert {f.rule for f in findings} == {"NPU202"}
