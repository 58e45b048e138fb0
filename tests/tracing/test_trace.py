"""What a trace sees, and where."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pytest

from npu_migrate import target
from npu_migrate.errors import InputError
from npu_migrate.target.support import documented_types
from npu_migrate.tracing import Settings, run
from npu_migrate.tracing.branches import branches
from npu_migrate.tracing.coverage import judge

pytest.importorskip("torch")
HERE = Path(__file__).parent
TARGET = target.load("2.13.0")
NETS = str(HERE / "nets.py")


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def traced(what, **options):
    return run(Settings(what, branches=branches(TARGET), **options))


def places(trace, phase):
    """Operators and their modules in one phase."""
    return {(use.operator, use.module) for use in trace.uses if use.phase == phase}


def test_each_operator_has_its_module_and_phase():
    trace = traced(f"{NETS}:net")
    assert (trace.ended, trace.exit_code, trace.device) == ("finished", 0, "cpu")
    forward, backward = places(trace, "forward"), places(trace, "backward")
    assert {
        ("aten::embedding", "Net.embed"),
        ("aten::lstm.input", "Net.memory"),
        ("aten::lgamma", "Net"),
    } <= forward
    assert {
        ("aten::embedding_dense_backward", "Net.embed"),
        ("aten::lstm.input", "Net.memory"),
        ("aten::digamma", "Net"),
    } <= backward
    assert {use.kind for use in trace.uses if use.module == "Net.memory"} == {"LSTM"}


def test_shapes_and_types_are_those_of_the_calls():
    uses = {(use.operator, use.phase): use for use in traced(f"{NETS}:net").uses}
    assert uses["aten::embedding", "forward"].inputs == ("float32[10,8], int64[3,2]",)
    assert uses["aten::digamma", "backward"].inputs == ("float32[3,2,4]",)
    assert uses["aten::lgamma", "forward"].count == 1


def test_a_composite_that_the_target_replaces_counts_whole():
    whole = traced(f"{NETS}:lstm")
    inner = {use.operator for use in whole.uses if use.module}
    assert "aten::lstm.input" in inner
    assert inner.isdisjoint({"aten::sigmoid", "aten::tanh", "aten::addmm", "aten::mm"})
    pieces = {use.operator for use in run(Settings(f"{NETS}:lstm")).uses}
    assert {"aten::sigmoid_", "aten::tanh"} <= pieces
    assert "aten::lstm.input" not in pieces


def test_recurrent_cells_are_fused_where_the_target_has_the_kernel():
    """On accelerators torch takes fused cells, and torch_npu has no kernel for the gradient of that of GRU."""
    trace = traced(f"{NETS}:gru_cell")
    found = {row.name: row.group for row in judge(trace, TARGET).rows}
    assert found["aten::_thnn_fused_gru_cell"] == "native"
    assert found["aten::_thnn_fused_gru_cell_backward"] == "missing"
    old = target.load("2.1.0")
    assert "gru_cell" not in branches(old)


def test_dropout_is_one_kernel_as_on_an_accelerator():
    names = {use.operator for use in traced(f"{NETS}:transformer").uses}
    assert {"aten::native_dropout", "aten::native_dropout_backward"} <= names
    assert "aten::bernoulli_.float" not in names


@pytest.mark.parametrize("name", ["net", "resnet", "transformer", "lstm", "again"])
def test_meta_tensors_show_the_same(name):
    found = [traced(f"{NETS}:{name}", meta=meta) for meta in (False, True)]
    assert found[1].device == "meta"
    first, second = (
        [(use.operator, use.phase, use.module, use.count, use.inputs) for use in one.uses] for one in found
    )
    assert first == second


def test_building_a_model_is_the_hosts_and_may_look_at_values():
    for meta in (False, True):
        trace = traced(f"{NETS}:picky", meta=meta)
        assert trace.ended == "finished"
        assert {use.operator for use in trace.uses}.isdisjoint({"aten::uniform_", "aten::_local_scalar_dense"})


def test_inputs_are_made_to_order():
    trace = traced(f"{NETS}:doubled", inputs=("2x3", "3x4:float16"))
    assert {use.inputs for use in trace.uses if use.operator == "aten::matmul"} == {("float64[2,3], float64[3,4]",)}
    row = next(row for row in judge(trace, TARGET).rows if row.name == "aten::matmul")
    assert (row.documented, row.types) == ("torch.Tensor.matmul", ("float64",))
    assert traced(f"{NETS}:Net", inputs=("3x2:int64",)).ended == "finished"


def test_without_gradients():
    trace = traced(f"{NETS}:resnet", backward=False)
    assert {use.phase for use in trace.uses} == {"forward"}
    assert ("aten::cudnn_batch_norm", "x") not in places(trace, "forward")


def test_a_checkpoint_runs_its_part_twice():
    uses = defaultdict(int)
    for use in traced(f"{NETS}:again").uses:
        uses[use.operator, use.phase, use.module] += use.count
    assert [uses["aten::addmm", phase, "Again.part.0"] for phase in ("forward", "backward")] == [1, 1]


SCRIPT = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self):
        return 6
    def __getitem__(self, index):
        return torch.erfinv(torch.rand(3))

model = nn.Linear(3, int(sys.argv[1]))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for batch in DataLoader(Data(), batch_size=2):
    optimizer.zero_grad()
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
with torch.inference_mode():
    model(torch.rand(1, 3))
"""


def test_a_script_with_its_arguments(here, capfd):
    here.joinpath("train.py").write_text(SCRIPT, encoding="utf-8")
    trace = traced("train.py", arguments=("2",))
    assert (trace.ended, trace.steps, trace.command) == ("finished", 3, ["train.py", "2"])
    out, err = capfd.readouterr()
    assert (out, err.count("loss")) == ("", 3)
    # As on an accelerator: all parameters at once. The step counters, which stay on the host, are not counted.
    assert {name for name, _ in places(trace, "optimizer")} >= {
        "aten::_foreach_mul_.Scalar",
        "aten::_foreach_add_.List",
    }
    assert not any("float32[]" in use.inputs for use in trace.uses if use.phase == "optimizer")
    # What the loader computes is the host's.
    assert "aten::erfinv" not in {use.operator for use in trace.uses}
    item = next(use for use in trace.uses if use.operator == "aten::_local_scalar_dense")
    assert (item.phase, item.where, item.count) == ("outside", "train.py:20", 3)
    # In inference mode composites reach a dispatch mode whole.
    assert "aten::linear" not in {use.operator for use in trace.uses}


def test_enough_steps(here):
    here.joinpath("train.py").write_text(SCRIPT, encoding="utf-8")
    trace = traced("train.py", arguments=("2",), max_steps=2)
    assert (trace.ended, trace.steps, trace.exit_code) == ("steps", 2, 0)


ENDS = {
    "raise ValueError('no data')": ("failed", 1, "ValueError: no data"),
    "import sys; sys.exit(7)": ("finished", 7, ""),
    "import sys; sys.exit('bye')": ("finished", 1, ""),
    "import os; os._exit(5)": ("vanished", 5, ""),
}


@pytest.mark.parametrize("line", ENDS)
def test_whatever_the_program_does_is_told(here, line):
    here.joinpath("a.py").write_text(f"import torch\ntorch.ones(2)\n{line}\n", encoding="utf-8")
    trace = traced("a.py")
    assert (trace.ended, trace.exit_code, trace.error) == ENDS[line]
    assert bool(trace.uses) is (trace.ended != "vanished")


def test_its_time_may_be_over(here):
    here.joinpath("a.py").write_text(
        "import torch, time\ntorch.ones(2)\nwhile True: time.sleep(0.1)\n", encoding="utf-8"
    )
    for seconds in (10, 60):  # a busy machine may need longer than the first of these to import torch
        trace = run(Settings("a.py"), max_seconds=seconds)
        assert (trace.ended, trace.exit_code) == ("time", 124)
        if trace.uses:
            break
    assert trace.uses


def test_an_early_interrupt_is_quiet(here, capfd):
    here.joinpath("a.py").write_text("import torch\n", encoding="utf-8")
    trace = run(Settings("a.py"), max_seconds=0.2)
    assert (trace.ended, trace.exit_code, trace.uses) == ("time", 124, [])
    assert "Traceback" not in capfd.readouterr().err


def test_bfloat16_is_documented_for_what_linear_consists_of():
    named, taken = documented_types(TARGET, "aten::addmm")
    assert named
    assert {"bfloat16", "float16", "float32"} <= taken
    assert "float64" not in taken


WRONG = {
    f"{NETS}:nothing": "nothing",
    f"{NETS}:NUMBER": "NUMBER",
    f"{NETS}:Net": "--input",
    "nets": "MODULE:CALLABLE",
    "absent.py": "absent.py",
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_traced(what):
    with pytest.raises(InputError) as raised:
        traced(what)
    facts = " ".join(str(fact) for fact in raised.value.facts.values())
    assert WRONG[what].split(".")[0] in f"{raised.value.says} {facts}" or what in facts


@pytest.mark.parametrize("text", ["2x", "2x3:float31", "axb", "-1x2", "2x3:nn"])
def test_inputs_that_are_none(text):
    with pytest.raises(InputError):
        traced(f"{NETS}:Net", inputs=(text,))


def test_nothing_is_left_behind(here):
    traced(f"{NETS}:lstm")
    assert os.listdir(here) == []  # noqa: PTH208
