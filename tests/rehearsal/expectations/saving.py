"""Checkpoints: files, and where their tensors go."""

from __future__ import annotations

import io
import tempfile

import torch
from torch import nn


def _step(model, optimizer, data):
    optimizer.zero_grad()
    model(data).square().mean().backward()
    optimizer.step()


def checkpoint_file_keeps_the_device():
    saved = io.BytesIO()
    torch.save({"w": torch.arange(3.0).npu(1)}, saved)
    saved.seek(0)
    assert torch.load(saved)["w"].device == torch.device("npu:1")


def checkpoint_file_goes_to_the_host():
    saved = io.BytesIO()
    torch.save(nn.Linear(2, 2).npu().state_dict(), saved)
    for location in ("cpu", torch.device("cpu"), lambda storage, _: storage, {"npu:0": "cpu"}):
        saved.seek(0)
        assert torch.load(saved, map_location=location)["weight"].device.type == "cpu"


def checkpoint_file_goes_to_a_device():
    saved = io.BytesIO()
    torch.save(nn.Linear(2, 2).state_dict(), saved)
    for location in ("npu", "npu:1", torch.device("npu:1")):
        saved.seek(0)
        assert torch.load(saved, map_location=location)["weight"].device.type == "npu"


def checkpoint_file_goes_where_a_table_or_a_function_says():
    saved = io.BytesIO()
    torch.save({"w": torch.arange(3.0).npu(0)}, saved)
    for location in ({"npu:0": "npu:1"}, lambda storage, _place: storage.npu(1)):
        saved.seek(0)
        loaded = torch.load(saved, map_location=location)["w"]
        assert loaded.device == torch.device("npu:1")
        assert loaded.tolist() == [0, 1, 2]


def checkpoint_of_optimizer_resumes():
    model = nn.Linear(2, 2).npu()
    optimizer = torch.optim.Adam(model.parameters())
    _step(model, optimizer, torch.ones(1, 2).npu())
    saved = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, saved)
    saved.seek(0)
    loaded = torch.load(saved, map_location="npu:0", weights_only=True)
    other = nn.Linear(2, 2).npu()
    again = torch.optim.Adam(other.parameters())
    other.load_state_dict(loaded["model"])
    again.load_state_dict(loaded["optimizer"])
    _step(other, again, torch.ones(1, 2).npu())


def whole_model_in_a_file():
    with tempfile.NamedTemporaryFile(suffix=".pt") as file:
        torch.save(nn.Linear(2, 2).npu(), file.name)
        assert torch.load(file.name, weights_only=False).weight.device.type == "npu"


def state_dict_loads_across_devices():
    model = nn.Linear(2, 2).npu()
    model.load_state_dict(nn.Linear(2, 2).state_dict())
    assert model.weight.device.type == "npu"
