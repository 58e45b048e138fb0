from __future__ import annotations

import io
import json
import zipfile

import pytest

from npu_migrate import target
from npu_migrate.target import OpStatus, calls, query, reference, releases, series, store


def test_an_operator_as_the_contract_prints_it():
    assert query.show("aten::lgamma", "2.13.0").facts() == {
        "operator": "aten::lgamma",
        "torch_npu": "2.13.0",
        "status": "cpu-fallback",
        "via": "lgamma.out",
        "cuda": True,
    }
    assert query.show("lgamma", "2.13.0") == query.show("aten::lgamma", "2.13.0")


def test_a_python_name_answers_with_overloads_and_the_worst_status():
    shown = query.show("torch.linalg.inv", "2.13.0").facts()
    assert (shown["api"], shown["status"], shown["because"]) == ("torch.linalg.inv", "cpu-fallback", "linalg_inv_ex")
    assert [one["operator"] for one in shown["overloads"]] == ["aten::linalg_inv", "aten::linalg_inv.out"]
    assert {one["worst"] for one in shown["overloads"]} == {"cpu-fallback"}
    json.dumps(shown)


def test_the_worse_of_documents_and_dispatcher_counts_and_both_are_shown():
    shown = query.show("torch.nn.DataParallel", "2.13.0").facts()
    assert shown["status"] == "unsupported"
    disagreeing = [
        name
        for name in store.table("support")["apis"]
        for api in (target.load("2.13.0").python_api(name),)
        if api and not api.worst.rank and query.show(name, "2.13.0").status == "unsupported"
    ]
    assert disagreeing
    assert query.show(disagreeing[0], "2.13.0").kernel


def test_names_of_torch_npu_and_of_torch_cuda():
    assert query.show("torch.npu.Event", "2.13.0").facts() == {
        "name": "torch.npu.Event",
        "torch_npu": "2.13.0",
        "status": "exists",
        "what": "class",
    }
    assert query.show("torch_npu.npu_rms_norm", "2.13.0").schemas
    shown = query.show("torch.cuda.nvtx.range_push", "2.13.0").facts()
    assert (shown["status"], shown["instead"]) == ("missing", "torch_npu.npu.mstx.range_push")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("aten::lgama", "aten::lgamma"),
        ("torch.linalg.invv", "torch.linalg.inv"),
        ("torch.npu.synchronise", "torch.npu.synchronize"),
        ("torch.cuda.memory_alocated", "torch.cuda.memory_allocated"),
        ("torch.nn.LSTMM", "torch.nn.LSTM"),
    ],
)
def test_an_unknown_name_gives_near_ones(name, near):
    with pytest.raises(query.UnknownName) as caught:
        query.show(name, "2.13.0")
    assert near in caught.value.near


def test_lists_and_differences():
    missing = query.listed(OpStatus.MISSING, "2.13.0")
    assert len(missing) == 247
    assert {one.status for one in missing} == {OpStatus.MISSING}
    assert len(query.listed(OpStatus.MISSING, "2.13.0", cuda=True)) < 247
    found = query.diff("2.7.1", "2.8.0")
    assert (found.before, found.after) == ("2.7.1.post11", "2.8.0.post5")
    lost = {one.operator for one in found.operators if one.worse and one.after}
    kept = {one.name for one in target.load("2.8.0").operators() if not one.status.rank}
    assert lost
    assert not {name.removeprefix("aten::") for name in lost} & kept
    assert "npu_" in " ".join(found.custom_gone)


def test_a_composite_is_as_good_as_what_it_calls():
    letters = {"top": "C", "middle": "E", "good": "N", "bad": "F", "out": "f"}
    table = {"top": ["good", "middle"], "middle": ["bad", "?out", "top"]}
    assert calls.worst("top", letters, table) == (OpStatus.CPU_FALLBACK, "bad")
    assert calls.worst("good", letters, table) == (OpStatus.NATIVE, "")
    assert calls.callees("top.out", table) == ["good", "middle"]
    assert calls.callees("middle_", table) == ["bad", "?out", "top"]


def test_a_kernel_that_replaces_a_composite_hides_what_the_composite_calls():
    one = target.load("2.13.0").operator("inverse")
    assert (one.status, one.calls, one.worst) == (OpStatus.NATIVE, (), OpStatus.NATIVE)


def test_series_say_the_last_letter_for_all_that_follow():
    assert series.join(list("NNFFF")) == "NNF"
    assert series.expand("NNF", 5) == list("NNFFF")
    assert [series.at(".N", column) for column in range(3)] == [".", "N", "N"]
    assert dict(series.Column({"a": ".N", "b": "N."}, 1)) == {"a": "N"}


def test_reference_tables():
    assert reference.error("ERR01007") == reference.ErrorCode("ERR01007", "torch_npu", "OPS", "NOT_SUPPORT")
    assert reference.error("107002").name == "ACL_ERROR_RT_CONTEXT_NULL"
    assert reference.error("207018").name == "ACL_ERROR_RT_DEVICE_OOM"  # newer than the headers in the wheels
    assert reference.error("EE1001").whose == "cann"
    assert reference.error("E9999") is None
    assert reference.variable("ASCEND_LAUNCH_BLOCKING").real
    assert not reference.variable("NPU_GEMM_OPTIMIZE").real
    assert reference.npu_variable("CUDA_VISIBLE_DEVICES") == "ASCEND_RT_VISIBLE_DEVICES"
    assert (reference.npu_variable("NCCL_IB_DISABLE"), reference.npu_variable("NO_SUCH_ONE")) == ("", None)
    assert (reference.autocast("aten::linear"), reference.autocast("relu")) == ("lower", None)
    assert "upsample_bilinear2d" in reference.cast_on_cuda_only("2.14.0")


def test_releases_outside_the_official_table_know_their_neighbour():
    assert releases.nearest_listed("2.7.1.post11").torch_npu == "2.7.1.post8"
    assert releases.nearest_listed("2.13.0") is None
    assert target.load("2.7.1.post8").cann == releases.nearest_listed("2.7.1.post11").cann


def test_an_exact_release_can_be_asked_for():
    assert target.load("==2.7.1").torch_npu == "2.7.1"
    assert target.load("2.7.1").torch_npu == "2.7.1.post11"


def test_legacy_releases_know_names_and_native_operators():
    for version, release in (("1.8.1", "1.8.1.post3"), ("1.11", "1.11.0.post15")):
        old = target.load(version)
        assert (old.torch_npu, old.legacy) == (release, True)
        assert old.has("torch_npu.npu.synchronize")
        assert old.operator("add.Tensor").status is OpStatus.NATIVE
        assert sum(one.status is OpStatus.NATIVE for one in old.operators()) > 800
    assert not any(name.startswith("1.") for name in target.known())


def test_the_tables_stay_small():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in store.folder().iterdir():
            archive.write(path, path.name)
    assert len(packed.getvalue()) <= 400 * 1024
