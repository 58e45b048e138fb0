"""Places, kinds and cells."""

from __future__ import annotations

import json

import pytest

from npu_migrate.files import concerns, find
from npu_migrate.files.notebooks import code_cells
from npu_migrate.model import Span, Status


def test_nothing_is_known_of_other_kinds():
    assert find("docs", "README.md", "cuda") == []
    assert find("unknown", "f", "cuda") == []


def test_bytes_tell_whether_a_file_is_worth_reading():
    assert concerns("requirements", b"Torch==2.1.0\n")
    assert concerns("cuda", b"int x;\n")
    assert concerns("shell", b"export PATH=\xff\nNVCC=1\n")
    assert not concerns("shell", b"ls\n")
    assert not concerns("docs", b"cuda\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_and_columns_count_characters(newline):
    text = newline.join(["# 设备", "名: {键: 'cuda:0'}", ""])
    (finding,) = find("yaml", "a/b.yaml", text)
    assert finding.path == "a/b.yaml"
    assert finding.span == Span(2, 9, 2, 15) or finding.span == Span(2, 8, 2, 16)
    assert finding.before in {"cuda:0", "'cuda:0'"}


def test_facts_are_data():
    (finding,) = [f for f in find("yaml", "f", 'image: "nvidia/cuda\x1b[31m{tool}"\n') if f.status is Status.MANUAL]
    assert dict(finding.text.facts)["image"] == "nvidia/cuda\x1b[31m{tool}"


def test_long_facts_are_cut():
    findings = find("shell", "f.sh", "export CUDA_VISIBLE_DEVICES=" + "1" * 5000)
    assert [len(dict(finding.text.facts)["value"]) for finding in findings] == [200]


def test_conda_environments_are_read_as_yaml_whatever_they_are_called():
    text = "channels:\n  - nvidia\ndependencies:\n  - cudatoolkit=11.3\n"
    as_pins = find("requirements", "environment.yml", text)
    assert as_pins == find("yaml", "environment.yml", text)
    assert [finding.text.key for finding in as_pins] == ["channel", "conda"]


def test_code_cells_are_handed_over_one_by_one():
    cells = [
        {"cell_type": "markdown", "source": "cuda"},
        {"cell_type": "code", "source": ["import torch\n", "x = 1\n"]},
        {"cell_type": "code", "source": "%%bash\nls\n"},
        {"cell_type": "code", "source": "%%time\nx.cuda()\n"},
        {"cell_type": "raw", "source": "x.cuda()"},
    ]
    book = json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}})
    assert list(code_cells(book)) == [
        (2, "import torch\nx = 1\n", True),
        (3, "%%bash\nls\n", False),
        (4, "%%time\nx.cuda()\n", True),
    ]


def test_no_cell_of_another_language_is_python():
    book = {"cells": [{"cell_type": "code", "source": "x"}], "metadata": {"kernelspec": {"language": "julia"}}}
    assert list(code_cells(json.dumps(book))) == [(1, "x", False)]
    assert list(code_cells("{broken")) == []


def test_old_notebooks_keep_their_cells_in_worksheets():
    book = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x.cuda()"]}]}]}
    assert list(code_cells(json.dumps(book))) == [(1, "x.cuda()", True)]
    (finding,) = find("notebook", "f.ipynb", json.dumps(book))
    assert (finding.cell, finding.span) == (1, Span(1, 1, 1, 7))


def test_a_group_of_names_is_one_finding_that_lists_each_line():
    text = "a.is_cuda();\n" * 3 + 'b = at::kCUDA;  // "cuda"\n'
    (device,) = [finding for finding in find("cpp", "f.cpp", text) if finding.status is Status.MANUAL]
    assert dict(device.text.facts) == {"count": "4", "names": "is_cuda: 1, 2, 3; at::kCUDA: 4"}
    assert (device.span.line, device.span.end_line) == (1, 4)


def test_options_in_a_yaml_text_are_those_of_a_program():
    text = "args: >\n  --epochs 3\n  --device cuda:1\nmore: '--backend=nccl --fast'\nnote: use --cuda or cuda\n"
    found = [(one.span.line, one.rule, one.status.value) for one in find("yaml", "f.yaml", text)]
    assert [one for one in found if one[2] == "manual"] == [(3, "NPU913", "manual"), (4, "NPU913", "manual")]


def test_a_line_that_is_timed_is_code():
    cells = ["%timeit x.cuda()", "%time y = model.cuda()", "%matplotlib inline cuda"]
    book = {"cells": [{"cell_type": "code", "source": source, "outputs": []} for source in cells]}
    found = [(one.cell, one.rule) for one in find("notebook", "f.ipynb", json.dumps(book))]
    assert found == [(1, "NPU940"), (2, "NPU940"), (3, "NPU990")]
