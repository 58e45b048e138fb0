"""Whatever a file holds: no finder raises, and no CUDA word is left outside a finding."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npu_migrate.files import KINDS, find
from npu_migrate.files.sites import TIE

PIECES = [
    *"\n\r\t \"'`\\#:;-=$(){}[]<>|&,%!@~",
    *("cuda", "cuda:0", "CUDA_VISIBLE_DEVICES=1,0", "nccl", "cudnn", "torch==2.1+cu118", "flash-attn", "nvidia-smi"),
    *(
        "\r\n",
        "\n  ",
        "\n- ",
        ": ",
        "<<EOF\n",
        "\nEOF\n",
        "|\n",
        '"""',
        "'''",
        "/*",
        "*/",
        "//",
        "#[[",
        "$(",
        "${",
        "%%bash\n",
    ),
    *(
        "FROM ",
        "RUN ",
        "ENV ",
        "ARG ",
        "run",
        "device",
        "image",
        "dependencies",
        "pip install ",
        "conda install ",
        "echo ",
    ),
    *(
        "__global__ void k(",
        "#include <",
        "find_package(",
        "é",
        "\x00",
        "\x1b",
        "\u2028",
        "中",
        "python -c ",
        "true",
        "1",
    ),
]
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.text(max_size=60))


def offsets(text, findings):
    """The stretches that findings hold, as offsets."""
    starts = [0]
    for at, char in enumerate(text):
        if char == "\n" or (char == "\r" and text[at + 1 : at + 2] != "\n"):
            starts.append(at + 1)
    for finding in findings:
        span = finding.span
        yield starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"notebook"}))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
def test_every_word_is_inside_a_finding(kind, text):
    held = list(offsets(text, find(kind, "f", text)))
    for tie in TIE.finditer(text):
        assert any(start <= tie.start() and tie.end() <= end for start, end in held), tie


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(TEXTS, max_size=3), kind=st.sampled_from(["code", "markdown", "raw", ""]))
def test_every_word_of_a_cell_is_inside_a_finding(texts, kind):
    book = {"cells": [{"cell_type": kind, "source": text} for text in texts]}
    findings = find("notebook", "f.ipynb", json.dumps(book))
    for number, text in enumerate(texts, 1):
        held = list(offsets(text, [finding for finding in findings if finding.cell == number]))
        for tie in TIE.finditer(text):
            assert any(start <= tie.start() and tie.end() <= end for start, end in held), tie


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["cuda", "code", "python", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "worksheets", "source", "input", "cell_type", "outputs", "metadata", "kernelspec"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(book=VALUES)
def test_a_notebook_may_hold_anything(book):
    text = json.dumps(book)
    assert bool(find("notebook", "f.ipynb", text)) >= ("cuda" in text and "cells" not in text)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_findings_come_in_order_and_twice_the_same(kind):
    text = 'device: cuda\n# cuda\nCUDA_VISIBLE_DEVICES=1,0 nvidia-smi\n"device": "cuda"\ncuda\n' * 3
    findings = find(kind, "f", text)
    assert findings == sorted(findings, key=lambda finding: finding.order)
    assert findings == find(kind, "f", text)
    assert findings
