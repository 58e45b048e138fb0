from __future__ import annotations

import json
import shutil

import pytest

from npu_migrate.target import store
from npu_migrate.target.refresh import __main__ as refresh
from npu_migrate.target.refresh import aten, environment, tables, wheels
from npu_migrate.target.refresh.facts import derive

NATIVE_FUNCTIONS = """
- func: kernel(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU, CUDA: kernel
- func: no_cpu(Tensor self) -> Tensor
  dispatch:
    SparseCPU: no_cpu_sparse
- func: lacking(Tensor self) -> Tensor
  dispatch:
    CPU: lacking
  autogen: lacking.out
- func: plain.Tensor(Tensor self) -> Tensor
- func: replaced(Tensor self) -> Tensor
- func: defaulted(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: defaulted
- func: linalg_both(Tensor self) -> Tensor
  python_module: linalg
  structured_delegate: linalg_both.out
- func: linalg_both.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  python_module: linalg
  structured: True
  dispatch:
    CPU, CUDA: both_out
- func: hidden(Tensor self) -> Tensor
  structured_delegate: hidden.out
- func: hidden.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: hidden_out
"""

KERNELS = """
supported:
- kernel
- func: replaced
  op_api: true
- linalg_both.out
custom:
- func: npu_own(Tensor self, int n=1) -> Tensor
- func: npu_own.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
"""

SOURCES = {
    "__init__.py": "__all__ = ['filled']\nimport os\nfrom torch_npu.npu import *\nos.getenv('FROM_PYTHON')\n",
    "version.py": "__version__ = '9.9.0'\ngit_version = 'abc123'\n",
    "npu/__init__.py": (
        "__all__ = ['synchronize', 'FloatTensor', 'Event']\n"
        "from .streams import Event\n"
        "def synchronize(): ...\n"
        "temporary = 1\n"
        "del temporary\n"
        "try:\n    import math\nexcept ImportError:\n    fallback = None\n"
    ),
    "npu/streams.py": (
        "import torch_npu._C\n"
        "class Base:\n    def record(self): ...\n"
        "class Event(Base):\n    flag: int\n    size = 3\n    def _private(self): ...\n"
        "class Native(torch_npu._C.Thing): ...\n"
        "@cached\nclass Wrapped:\n    def inside(self): ...\n"
    ),
    "npu/hidden.py": "__all__ = []\nvalue = 1\n",
    "utils/_patches.py": "import torch\ndef apply():\n    torch.load = 1\n    torch_npu.added = 2\n",
    "contrib/__init__.py": "__all__ = ['never_bound']\nfrom torch_npu.npu.hidden import *\n",
    "_inductor/late.py": "import torch_npu\ntorch_npu.not_at_import = 1\n",
    "broken.py": "def (:\n",
}


@pytest.fixture
def trees(tmp_path):
    npu, torch = tmp_path / "npu", tmp_path / "torch"
    for name, text in SOURCES.items():
        path = npu / "torch_npu" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    lists = npu / "torch_npu" / "csrc" / "aten"
    lists.mkdir(parents=True)
    (lists / "npu_native_functions_by_codegen.yaml").write_text(KERNELS, encoding="utf-8")
    (npu / "torch_npu" / "lib.so").write_bytes(b"\x7fELF\0HCCL_NEW_ONE\0x\0P2P_KNOWN_BY_NAME\0ACL_INT8\0")
    listed = torch / "torchgen" / "packaged" / "ATen" / "native"
    listed.mkdir(parents=True)
    (listed / "native_functions.yaml").write_text(NATIVE_FUNCTIONS, encoding="utf-8")
    cuda = torch / "torch" / "cuda"
    cuda.mkdir(parents=True)
    (cuda / "__init__.py").write_text("__all__ = ['synchronize']\ndef _lazy_init(): ...\n", encoding="utf-8")
    (cuda / "nvtx.py").write_text("def mark(): ...\ndef _hidden(): ...\n", encoding="utf-8")
    return npu, torch


def test_every_kind_of_status_is_derived(trees):
    facts = derive(*trees)
    assert facts.operators == {
        "kernel": "N",
        "no_cpu": "X",
        "lacking": "F",
        "lacking.out": "f",
        "plain.Tensor": "C",
        "replaced": "O",
        "defaulted": "E",
        "linalg_both": "n",
        "linalg_both.out": "N",
        "hidden": "f",
        "hidden.out": "F",
    }
    assert facts.via["hidden"] == "hidden.out"
    assert facts.python["linalg_both"] == "linalg:f"
    assert facts.python["kernel"] == ":fm"
    assert {"lacking", "hidden.out", "no_cpu"}.isdisjoint(facts.cuda)


def test_names_are_read_as_an_import_would_bind_them(trees):
    facts = derive(*trees)
    assert facts.names["torch_npu.npu"] == {
        "synchronize": "f",
        "FloatTensor": "d",
        "Event": "c",
        "fallback": "d",
        "hidden": "m",
        "streams": "m",
    }
    assert facts.names["torch_npu"]["filled"] == "d"
    assert facts.names["torch_npu"]["synchronize"] == "f"
    assert facts.names["torch_npu"]["added"] == "f"
    assert "not_at_import" not in facts.names["torch_npu"]
    assert facts.names["torch_npu.contrib"] == {}
    assert facts.members["torch_npu.npu.Event"] == {"record", "size"}
    assert facts.members["torch_npu.npu.streams.Wrapped"] == set()
    assert facts.names["torch_npu.npu.streams"]["Native"] == "b"


def test_own_operators_and_cuda_names(trees):
    facts = derive(*trees)
    assert facts.custom == {
        "npu_own": "(Tensor self, int n=1) -> Tensor",
        "npu_own.out": "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    }
    assert facts.cuda_names == {
        "torch.cuda.synchronize",
        "torch.cuda._lazy_init",
        "torch.cuda.nvtx",
        "torch.cuda.nvtx.mark",
    }


def test_variables_are_found_in_sources_and_in_libraries(trees):
    found = environment.variables(trees[0] / "torch_npu", ["KNOWN_BY_NAME"])
    assert found == {"FROM_PYTHON": "p", "HCCL_NEW_ONE": "S", "KNOWN_BY_NAME": "S"}


def test_the_same_facts_give_the_same_bytes_and_a_release_touches_only_its_column(trees, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    facts, row = derive(*trees), {"torch": "9.9.0", "cann": "", "listed": False, "python": []}
    tables.lay_facts(folder, "9.9.0", row, facts)
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    tables.lay_facts(folder, "9.9.0", row, facts)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first
    facts.operators = {**facts.operators, "kernel": "F", "new_one": "N"}
    tables.lay_facts(folder, "9.8.0", row, facts)
    laid = json.loads((folder / "operators.json").read_bytes())["operators"]
    assert (laid["kernel"], laid["new_one"], laid["hidden"]) == ("FN", "N.", "f")
    assert list(json.loads((folder / "releases.json").read_bytes())["releases"]) == ["9.8.0", "9.9.0"]


def test_old_spellings_of_dispatch_keys_mean_the_same():
    listed = [
        {"func": "a(Tensor self) -> Tensor", "dispatch": {"Math": "a"}},
        {"func": "b(Tensor self) -> Tensor", "dispatch": {"DefaultBackend": "b"}},
    ]
    assert aten.statuses(aten.definitions(listed), ()) == {"a": "C", "b": "E"}


def test_a_wheel_that_is_not_there_is_said_in_one_line(monkeypatch, capsys, tmp_path):
    said = ["no such version"]

    def nothing(*_):
        raise wheels.NoWheelError(*said)

    monkeypatch.setattr(wheels, "download", nothing)
    with pytest.raises(SystemExit) as caught:
        refresh.main(["0.0.0", "--into", str(tmp_path)])
    assert caught.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == said[0]


@pytest.mark.slow
def test_refreshing_a_release_from_its_wheels_changes_no_byte(tmp_path):
    folder = tmp_path / "coverage"
    shutil.copytree(store.folder(), folder)
    try:
        refresh.refresh("2.13.0", folder)
    except wheels.NoWheelError as error:
        pytest.skip(f"no wheel: {error}")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in store.folder().iterdir()
    }
