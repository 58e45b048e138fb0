"""On the sample and on real packages, no name or string about CUDA is left without an answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from accounting import sites, unaccounted
from real_trees import TREES, tree

SAMPLE = Path(__file__).parents[1] / "fixtures" / "projects" / "yolo_mini"


def report_on(folder: Path, report: Path) -> dict:
    command = [sys.executable, "-m", "npu_migrate", str(folder), "-q", "--report", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stderr
    return json.loads(report.read_text(encoding="utf-8"))


def test_the_sample(tmp_path):
    report = report_on(SAMPLE, tmp_path / "r.json")
    assert len(sites(SAMPLE)) > 50
    assert unaccounted(SAMPLE, report) == []


def test_odd_files(tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    (root / "py2.py").write_text('print "cuda"\nx.cuda(async=True)\n')
    (root / "crlf.py").write_bytes(b'import torch\r\nx = """\r\n cuda\r\n"""\r\ny.cuda()\r\n')
    (root / "names.py").write_text(
        "use_cuda = cudnn = 1\ndef nccl(cuda_a, *, b_cuda=2): pass\nclass CudaX: pass\ng_cuda = lambda cuda: cuda\n"
        "try:\n    pass\nexcept E as cuda_error:\n    raise\nfor cuda in x: f(nccl_kw=1)\n"
        "z = f'{cuda!r:>{cuda}} cuda'\na_cuda = 1; b = 2; import nccl_c; (cuda_d,\n cuda_e) = 1, 2; f = 3\n"
        "if x: cuda_g = 1; h = 2\nelse: h = cuda_i\n@cuda_j\nclass K(cuda_l): m: cuda_n = 1\n"
        "del cuda_o; global cuda_p\nwith cuda_q as cuda_r: pass\nprint(*cuda_s, **cuda_t)\n"
    )
    (root / "bad.yaml").write_text("a: [cuda\nb: 'nccl\n")
    report = report_on(root, tmp_path / "r.json")
    assert len(sites(root)) > 15
    assert unaccounted(root, report) == []


def test_the_scan_itself_finds_what_a_report_leaves_out():
    assert unaccounted(SAMPLE, {"findings": []}) == sites(SAMPLE)


@pytest.mark.slow
@pytest.mark.parametrize("pin", TREES)
def test_real_packages(pin, request, tmp_path):
    folder = tree(pin, request.config.cache)
    report = report_on(folder, tmp_path / "r.json")
    assert len(sites(folder)) > 20
    assert unaccounted(folder, report) == []
