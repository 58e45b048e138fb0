"""Old checkpoints become those of the rewritten model, and nothing that they name is run."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest
import torch

from npu_migrate.cli.main import cli
from npu_migrate.errors import InputError
from npu_migrate.weights.convert import convert, difference, rearranged

FIXTURE = Path(__file__).parents[2] / "fixtures" / "npu502_focus"
SAVE = """
import sys, torch
sys.path.insert(0, {folder!r})
import project
torch.manual_seed(0)
model = project.Focus(3, 8, 3)
model.eval()
x = torch.randn(1, 3, 16, 16)
torch.save({{"model": model.half(), "epoch": 3, "x": x, "y": model.float()(x)}}, {path!r})
"""
USE = """
import sys, torch
sys.path.insert(0, {folder!r})
import project
checkpoint = torch.load({path!r}, weights_only=False)
model = checkpoint["model"].float()
assert checkpoint["epoch"] == 3
assert model.conv.conv.kernel_size == (6, 6) and model.conv.conv.in_channels == 3
torch.testing.assert_close(model(checkpoint["x"]), checkpoint["y"], rtol=1e-2, atol=1e-2)
"""


def python(text, **values):
    done = subprocess.run([sys.executable, "-c", text.format(**values)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def pickled(tmp_path):
    """A whole module of a project that is gone when it is converted, as in checkpoints of YOLOv5."""
    old = tmp_path / "old"
    old.mkdir()
    (old / "project.py").write_text((FIXTURE / "basic.in.py").read_text())
    path = tmp_path / "model.pt"
    python(SAVE, folder=str(old), path=str(path))
    return path


def test_a_pickled_module_of_a_project_that_is_not_there(pickled, tmp_path):
    target = tmp_path / "new.pt"
    (done,) = convert(pickled, target, check=True)
    assert (done.before, done.after) == ((8, 12, 3, 3), (8, 3, 6, 6))
    assert done.difference < 1e-12
    assert "project" not in sys.modules
    new = tmp_path / "migrated"
    new.mkdir()
    (new / "project.py").write_text((FIXTURE / "basic.out.py").read_text())
    python(USE, folder=str(new), path=str(target))


def test_state_dicts_with_all_that_goes_with_them(tmp_path):
    weight = torch.randn(8, 12, 3, 3)
    state = {"model.0.conv.conv.weight": weight, "model.0.conv.bn.weight": torch.ones(8)}
    other = {"0.weight": torch.randn(8, 3, 3, 3), "1.weight": torch.randn(8, 12, 3, 3)}
    torch.save({"model": state, "ema": dict(state), "other": other, "epoch": 7}, tmp_path / "a.pt")
    done = convert(tmp_path / "a.pt", tmp_path / "b.pt")
    assert [d.place for d in done] == ["model.model.0.conv.conv.weight", "ema.model.0.conv.conv.weight"]
    new = torch.load(tmp_path / "b.pt", weights_only=True)
    assert new["epoch"] == 7
    assert torch.equal(new["model"]["model.0.conv.conv.weight"], rearranged(weight))
    assert torch.equal(new["other"]["1.weight"], other["1.weight"])


def test_training_goes_on_from_a_converted_optimizer(tmp_path):
    model = torch.nn.Sequential(torch.nn.Conv2d(12, 4, 3), torch.nn.Conv2d(4, 4, 3))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(1, 12, 8, 8)).sum().backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "a.pt")
    done = convert(tmp_path / "a.pt", tmp_path / "b.pt")
    assert [d.place for d in done] == ["model.0.weight", "optimizer.state.0.exp_avg", "optimizer.state.0.exp_avg_sq"]
    new = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 6, 2), torch.nn.Conv2d(4, 4, 3))
    resumed = torch.optim.Adam(new.parameters())
    checkpoint = torch.load(tmp_path / "b.pt", weights_only=True)
    new.load_state_dict(checkpoint["model"])
    resumed.load_state_dict(checkpoint["optimizer"])
    new(torch.randn(1, 3, 16, 16)).sum().backward()
    resumed.step()


def test_a_weight_can_be_named(tmp_path):
    torch.save({"0.weight": torch.randn(8, 3, 3, 3), "1.weight": torch.randn(8, 16, 3, 3)}, tmp_path / "a.pt")
    (done,) = convert(tmp_path / "a.pt", tmp_path / "b.pt", keys=["1.weight"])
    assert done.after == (8, 4, 6, 6)


@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_the_check_measures_outputs(kernel):
    weight = torch.randn(5, 12, kernel, kernel)
    assert difference(weight, rearranged(weight)) < 1e-12
    assert difference(weight, rearranged(weight).flip(2)) > 1e-3


class Evil:
    def __reduce__(self):
        return os.system, ("touch pwned",)


def test_nothing_in_a_checkpoint_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({"evil": Evil(), "0.weight": torch.randn(8, 12, 3, 3)}, tmp_path / "a.pt")
    convert(tmp_path / "a.pt", tmp_path / "b.pt")
    assert not (tmp_path / "pwned").exists()


def test_what_is_not_understood_is_written_as_it_was(tmp_path):
    """Dates, paths, arrays and classes come back as what they were."""
    kept = {"when": datetime(2020, 1, 2, tzinfo=timezone.utc), "where": Path("a/b"), "type": Path}
    torch.save({**kept, "0.weight": torch.randn(8, 12, 3, 3)}, tmp_path / "a.pt")
    convert(tmp_path / "a.pt", tmp_path / "b.pt")
    new = torch.load(tmp_path / "b.pt", weights_only=False)
    assert {key: new[key] for key in kept} == kept


@pytest.mark.parametrize("data", [b"", b"no checkpoint", pickle.dumps([1, 2])])
def test_other_files_are_refused(tmp_path, data):
    (tmp_path / "a.pt").write_bytes(data)
    with pytest.raises(InputError):
        convert(tmp_path / "a.pt", tmp_path / "b.pt")
    assert not (tmp_path / "b.pt").exists()


def test_nothing_to_convert_is_said(tmp_path):
    torch.save({"0.weight": torch.randn(8, 3, 3, 3)}, tmp_path / "a.pt")
    with pytest.raises(InputError, match="weights-nothing"):
        convert(tmp_path / "a.pt", tmp_path / "b.pt")


def test_the_command(pickled, capsys):
    with pytest.raises(SystemExit) as left:
        cli(["weights", "convert", str(pickled), "--check", "--lang", "en"])
    assert not left.value.code
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "model.conv.conv.weight: 8x12x3x3 -> 8x3x6x6"
    assert said[-1] == f"Converted checkpoint: {pickled.with_name('model.npu.pt')}"
