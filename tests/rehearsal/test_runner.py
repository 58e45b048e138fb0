from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from npu_migrate.errors import InputError
from npu_migrate.rehearse import Settings, run
from npu_migrate.rehearse.report import Report
from npu_migrate.rehearse.tiers import settle

ROOT = Path(__file__).parents[2]
TRAIN = """
import torch
from torch import nn

model = nn.Linear(4, 2).to("npu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4).to("npu")).sum()
    loss.backward()
    optimizer.step()
    print("step", step, loss.item(), flush=True)
"""


@pytest.fixture
def settings():
    pytest.importorskip("torch")
    return Settings("portable", "2.7.1", devices=2)


def test_a_program_trains(tree, settings, capfd):
    report = run(tree("train.py", TRAIN), ["python", "train.py"], settings)
    assert "step 4" in capfd.readouterr().out
    assert (report.exit_code, report.ended, report.steps, report.processes) == (0, "finished", 5, 1)
    assert report.torch_npu.startswith("2.7.1")
    waits = [note for note in report.of("sync") if note.detail == ".item()"]
    assert [(note.where, note.count) for note in waits] == [("train.py:12", 5)]
    assert any(use.name == "aten::addmm" and use.where == "train.py:9" for use in report.operators)


def test_the_tree_is_left_alone(tree, settings):
    root = tree("write.py", "open('out.txt', 'w').write('x')\n")
    assert run(root, ["python", "write.py"], settings).exit_code == 0
    assert [path.name for path in root.iterdir()] == ["write.py"]


def test_it_stops_after_some_steps(tree, settings, capfd):
    report = run(tree("train.py", TRAIN), ["python", "train.py"], replace(settings, max_steps=2))
    assert "step 2" not in capfd.readouterr().out
    assert (report.exit_code, report.ended, report.steps) == (0, "steps", 2)


@pytest.fixture(params=["foreground", "background"])
def ground(request):
    """What a shell does to interrupts: its background jobs ignore them."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler if request.param == "foreground" else signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ground")
def test_it_stops_after_some_time(tree, settings):
    program = "import torch, time\ntorch.ones(1).npu()\nwhile True: time.sleep(0.1)\n"
    for seconds in (8, 30, 120):  # a busy machine may need longer than the first of these to import torch
        start = time.monotonic()
        report = run(tree("sleep.py", program), ["python", "sleep.py"], settings, max_seconds=seconds)
        assert (report.exit_code, report.ended) == (124, "time")
        assert time.monotonic() - start < seconds + 60
        if report.used:
            break
    assert report.used


def test_the_exit_code_is_the_programs(tree, settings):
    assert run(tree("fail.py", "raise SystemExit(7)\n"), ["python", "fail.py"], settings).exit_code == 7


def test_a_program_that_stays_with_cuda_fails_and_is_shown(tree, settings, capfd):
    report = run(tree("old.py", "import torch\ntorch.ones(2).cuda()\n"), ["python", "old.py"], settings)
    assert report.exit_code == 1
    assert "CUDA" in capfd.readouterr().err
    assert ("old.py:2", "Tensor.cuda()") in [(note.where, note.detail) for note in report.of("cuda")]
    assert not report.used
    assert "old.py:2" in report.text()


def test_a_program_that_falls_back_to_the_cpu_by_itself_is_shown(tree, settings):
    program = "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\ntorch.ones(2, device=device)\n"
    report = run(tree("quiet.py", program), ["python", "quiet.py"], settings)
    assert (report.exit_code, report.used) == (0, False)
    assert [note.detail for note in report.of("cuda")] == ["torch.cuda.is_available"]
    assert "Nothing ran on the NPU" in report.text()


def test_inert_autocast_is_shown(tree, settings):
    program = "import torch\nwith torch.autocast('cuda', dtype=torch.float16):\n    torch.ones(1).npu() + 1\n"
    notes = run(tree("inert.py", program), ["python", "inert.py"], settings).of("cuda")
    assert [(note.where, "does nothing" in note.detail) for note in notes] == [("inert.py:2", True)]


def test_names_the_target_lacks_are_shown(tree, settings):
    report = run(tree("name.py", "import torch\ntorch.npu.nvtx\n"), ["python", "name.py"], settings)
    assert report.exit_code == 1
    assert [(note.detail, note.where) for note in report.of("missing-name")] == [("torch_npu.npu.nvtx", "name.py:2")]


def test_devices_that_meet_are_shown(tree, settings):
    report = run(tree("mix.py", "import torch\ntorch.ones(2).npu() + torch.ones(2)\n"), ["python", "mix.py"], settings)
    assert [note.where for note in report.of("device-mix")] == ["mix.py:2"]


def test_cpu_fallbacks_can_be_refused(tree, settings, capfd):
    root = tree("fall.py", "import torch\ntorch.linalg.eigvals(torch.eye(2).npu())\n")
    warned = run(root, ["python", "fall.py"], settings)
    assert warned.exit_code == 0
    assert "fall back to run on the CPU" in capfd.readouterr().err
    assert [use.name for use in warned.in_state("cpu-fallback")]
    assert run(root, ["python", "fall.py"], replace(settings, on_cpu_fallback="raise")).exit_code == 1


def test_spawned_processes_are_part_of_it(tree, settings):
    program = """
import torch
import torch.multiprocessing as mp

def work(rank):
    torch.ones(1, device=f"npu:{rank}").item()

if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
"""
    report = run(tree("spawn.py", program), ["python", "spawn.py"], settings)
    assert (report.exit_code, report.processes) == (0, 2)


def test_torchrun_is_part_of_it(tree, settings):
    program = """
import os
import torch
import torch.distributed as dist

dist.init_process_group("hccl")
torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
total = torch.ones(1).npu()
dist.all_reduce(total)
assert total.item() == 2
dist.destroy_process_group()
"""
    command = ["torchrun", "--nproc_per_node=2", "--master_port=29655", "two.py"]
    report = run(tree("two.py", program), command, settings)
    assert (report.exit_code, report.processes) == (0, 2)


def test_hidden_devices_are_not_counted(tree, settings):
    program = "import torch\nassert torch.npu.device_count() == 1\n"
    environment = {**os.environ, "ASCEND_RT_VISIBLE_DEVICES": "1"}
    assert run(tree("one.py", program), ["python", "one.py"], settings, environment=environment).exit_code == 0


def test_the_package_is_loaded_by_torch_where_the_target_does(tree, settings):
    root = tree("auto.py", "import torch\nassert hasattr(torch, 'npu')\n")
    assert run(root, ["python", "auto.py"], settings).exit_code == 0
    assert run(root, ["python", "auto.py"], replace(settings, torch_npu="2.1.0")).exit_code == 1


def test_an_unknown_command_is_one_line(tree, settings):
    with pytest.raises(InputError) as caught:
        run(tree("a.py", ""), ["no-such-program"], settings)
    assert caught.value.says == "no-program"


def test_a_missing_tree_is_one_line(tmp_path):
    with pytest.raises(InputError) as caught:
        run(tmp_path / "none", ["python"], Settings())
    assert caught.value.says == "no-path"


@pytest.mark.usefixtures("settings")
def test_interrupt_leaves_nothing_behind(tree, tmp_path):
    mark = tmp_path / "pid"
    program = f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\nwhile True: time.sleep(0.1)\n"
    root = tree("wait.py", program)
    code = (
        "import signal, sys\nfrom pathlib import Path\nfrom npu_migrate.rehearse import run, Settings\n"
        # A shell starts what it runs in the background with the signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.exit(run(Path(sys.argv[1]), ['python', 'wait.py'], Settings(torch_npu='2.7.1')).exit_code)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", code, str(root)], env=environment) as process:
        deadline = time.monotonic() + 60
        while not (mark.exists() and mark.read_text(encoding="utf-8")) and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == 130
        finally:
            process.kill()
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text(encoding="utf-8")), 0)


def _journal(count, where=""):
    use = {"name": "aten::add.Tensor", "count": count, "state": "native", "where": where}
    note = {"kind": "sync", "detail": ".item()", "where": "a.py:1", "count": count}
    return {"operators": [use], "notes": [note], "steps": count, "stopped": ""}


def test_journals_are_joined():
    report = Report("2.7.1.post11", "2.7.1", "", "portable")
    report.take([_journal(1), _journal(2, "a.py:3")])
    assert (report.processes, report.steps) == (2, 2)
    assert [(use.count, use.where) for use in report.operators] == [(3, "a.py:3")]
    assert json.loads(report.json())["summary"]["calls"] == 3


def test_reports_speak_both_languages():
    report = Report("2.7.1.post11", "2.7.1", "", "portable")
    report.take([_journal(1)])
    assert "no real NPU was involved" in report.text("en")
    assert "模拟 NPU" in report.text("zh")
    assert report.json() == report.json()


@pytest.mark.parametrize("tier", ["portable", pytest.param("faithful", marks=pytest.mark.slow)])
def test_types_that_the_documents_leave_out_are_shown(tree, tier):
    try:
        settled = settle(Settings(tier))[0]
    except InputError as error:
        pytest.skip(str(error))
    root = tree(
        "p.py",
        "import torch, torch_npu\n"
        "whole = torch.ones(3, 3, dtype=torch.int32).npu()\n"
        "whole.max()\n"
        "whole.float().max()\n"
        "double = torch.ones(3, 3, dtype=torch.float64).npu()\n"
        "double @ double\n"
        "double[whole > 0] = 1\n",
    )
    report = run(root, ["python", "p.py"], settled)
    documented = {(note.where, note.detail) for note in report.of("dtype") if "documented" in note.detail}
    assert documented == {
        ("p.py:3", "aten::max: int32 is not among the documented types of torch.Tensor.max"),
        ("p.py:6", "aten::mm: float64 is not among the documented types of torch.Tensor.mm"),
    }


@pytest.mark.parametrize("tier", ["portable", pytest.param("faithful", marks=pytest.mark.slow)])
def test_waits_are_counted_by_line_and_by_step(tree, tier):
    try:
        settled = settle(Settings(tier))[0]
    except InputError as error:
        pytest.skip(str(error))
    root = tree(
        "p.py",
        "import torch, torch_npu\n"
        "model = torch.nn.Linear(3, 3).npu()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for step in range(4):\n"
        "    loss = model(torch.ones(2, 3).npu()).sum()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    loss.item(), loss.item()\n"
        "    loss.detach().cpu()\n"
        "    model.weight[model.weight > 9]\n"
        "    loss.nonzero()\n"
        "    model.weight.data[model.weight > 9] = 1\n",
    )
    report = run(root, ["python", "p.py"], settled)
    paces = {(note.where, note.detail): report.pace(note) for note in report.of("sync")}
    assert paces == {
        ("p.py:8", ".item()"): 2.0,
        ("p.py:9", "copy to the host"): 1.0,
        ("p.py:10", "boolean indexing"): 1.0,
        ("p.py:11", "aten::nonzero"): 1.0,
    }
