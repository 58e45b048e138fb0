from __future__ import annotations

import re
import subprocess
import zipfile

import pytest

from npu_migrate import tomlfile
from npu_migrate.errors import InputError
from npu_migrate.rehearse import Settings, run
from npu_migrate.rehearse.faithful import stubs, wheel
from npu_migrate.rehearse.tiers import settle

NAME = "torch_npu-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl"


@pytest.fixture
def pinned(monkeypatch, tmp_path):
    """A cache of its own, and a pin; returns the folder of wheels."""
    monkeypatch.setenv("NPU_MIGRATE_CACHE", str(tmp_path))
    monkeypatch.setattr(wheel, "pin", lambda _wanted=None: (NAME, "0" * 64))
    monkeypatch.setattr(stubs, "missing_tools", list)
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


def _archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("torch_npu/__init__.py", "")


def test_a_wheel_with_another_hash_is_thrown_away(pinned):
    _archive(pinned / NAME)
    settled, why = settle(Settings("auto"))
    assert (settled.tier, why) == ("portable", ("wrong-hash", NAME))
    assert not (pinned / NAME).exists()


def test_a_wheel_with_the_known_hash_is_unpacked_once(pinned, monkeypatch):
    import hashlib  # noqa: PLC0415

    _archive(pinned / NAME)
    digest = hashlib.sha256((pinned / NAME).read_bytes()).hexdigest()
    monkeypatch.setattr(wheel, "pin", lambda _wanted=None: (NAME, digest))
    settled, why = settle(Settings("auto"))
    assert (settled.tier, settled.torch_npu, why) == ("faithful", "2.13.0", ("", ""))
    (pinned / NAME).unlink()
    assert settle(Settings("faithful"))[0].tier == "faithful"


def test_no_download_means_the_portable_tier(pinned, monkeypatch):
    def fail(command, **_options):
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(wheel.subprocess, "run", fail)
    assert pinned.is_dir()
    assert settle(Settings("auto"))[1][0] == "no-download"


@pytest.mark.usefixtures("pinned")
def test_another_release_means_the_portable_tier():
    settled, why = settle(Settings("auto", "2.7.1"))
    assert (settled.tier, settled.torch_npu, why) == ("portable", "2.7.1", ("other-release", "2.13.0"))


@pytest.mark.usefixtures("pinned")
def test_missing_tools_are_named(monkeypatch):
    monkeypatch.setattr(stubs, "missing_tools", lambda: ["gcc"])
    assert settle(Settings("auto"))[1] == ("no-tools", "gcc")
    with pytest.raises(InputError) as caught:
        settle(Settings("faithful"))
    assert (caught.value.says, caught.value.facts) == ("faithful-no-tools", {"fact": "gcc"})


def test_the_portable_tier_needs_nothing_of_it(monkeypatch):
    monkeypatch.setattr(wheel, "pin", lambda: pytest.fail("was asked"))
    assert settle(Settings("portable", "2.7.1"))[1] == ("", "")


def test_what_would_compute_is_refused():
    assert "return 500002" in stubs._filler("aclopCompileAndExecute")
    assert "return 500002" in stubs._filler("HcclAllReduce")
    assert "return 0" in stubs._filler("aclrtSetOpWaitTimeout")


@pytest.mark.slow
def test_the_real_torch_npu_trains(tree, capfd):
    try:
        settled, _ = settle(Settings("faithful", devices=2))
    except InputError as error:
        pytest.skip(str(error))
    program = """
import torch
import torch_npu

model = torch.nn.Linear(4, 2).npu()
optimizer = torch_npu.optim.NpuFusedSGD(model.parameters(), lr=0.1)
model(torch.ones(3, 4).npu()).sum().backward()
torch.npu.synchronize()
print(torch_npu._C.__file__)
"""
    report = run(tree("real.py", program), ["python", "real.py"], settled)
    assert (report.exit_code, report.tier, report.torch_npu) == (0, "faithful", "2.13.0")
    assert "torch_npu-2.13.0" in capfd.readouterr().out
    assert any(note.detail == "torch_npu.npu.synchronize" for note in report.of("npu-name"))


@pytest.fixture
def machine(monkeypatch):
    """Makes this machine one with some torch, Python and processor."""

    def be(torch, minor, processor):
        monkeypatch.setattr(wheel, "installed_torch", lambda: torch)
        monkeypatch.setattr(wheel, "here", lambda: (f"cp3{minor}", processor))

    return be


def test_the_newest_wheel_of_a_torch_is_taken(machine):
    machine("2.9.0", 10, "aarch64")
    assert wheel.pin()[0].startswith("torch_npu-2.9.0.post9-cp310-")
    assert wheel.pin("2.9.0.post2")[0].startswith("torch_npu-2.9.0.post2-cp310-")
    machine("2.1", 10, "x86_64")
    with pytest.raises(wheel.Unfit):
        wheel.pin()


def test_auto_takes_no_wheel_that_was_never_run(machine):
    machine("2.12.0", 12, "x86_64")
    settled, why = settle(Settings("auto"))
    assert (settled.tier, settled.torch_npu, why) == ("portable", "2.12.0.post3", ("not-tried", "2.12.0.post3"))


def test_every_pin_is_a_wheel_with_a_hash():
    table = tomlfile.read(wheel._PINS)
    names = list(table["sha256"])
    assert all(
        re.fullmatch(r"torch_npu-2[\w.]+-cp31[012]-cp31[012]-[\w.]+_(x86_64|aarch64)\.whl", one) for one in names
    )
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in table["sha256"].values())
    assert len(set(table["sha256"].values())) == len(names)
    assert {wheel.version_of(one) for one in names} >= set(table["tried"])
