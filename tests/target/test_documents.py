# ruff: noqa: RUF001 - the documents are written in Chinese

from __future__ import annotations

import pytest

from npu_migrate.target import store
from npu_migrate.target.refresh import documents, limits
from npu_migrate.target.support import Support, support, words

SECTIONS = """# torch

### torch.abs

<div style="margin-left: 2em">

**原生文档**：[torch.abs](https://example.org)

**支持情况**：

| 硬件 | 是否支持 |
| ---- | :----: |
| <term>Atlas A2 训练系列产品</term> | ✔ |
| <term>Atlas A3 训练系列产品</term> | ✘ |
| <term>Ascend 950DT</term> | &#10004; |

**限制与说明**：

- `input`仅支持bf16，fp16
- Ascend 950DT：不支持bf16

</div>

> <font size="3">T</font>

**原生文档**：[Tensor.T](https://example.org)

| 硬件 | 是否支持 |
| ---- | :----: |
| <term>Atlas A2 训练系列产品</term> | ✘ |
"""

TABLE = """|API名称|是否支持|限制与说明|
|--|--|--|
|torch.abs|是|支持fp32<br>可能回退至CPU执行|
|torch.cuda.empty\\_cache|torch_npu.npu.empty_cache|是|-|
|torch.asarray|否|-|
"""


def test_both_layouts_are_read(tmp_path):
    (tmp_path / "new.md").write_text(SECTIONS, encoding="utf-8")
    assert documents.read(tmp_path) == {
        "torch.abs": ({"A2": "1", "A3": "0", "950": "1"}, "bf16 fp16|950:-bf16"),
        "torch.Tensor.T": ({"A2": "0"}, ""),
    }
    (tmp_path / "new.md").write_text(TABLE, encoding="utf-8")
    assert documents.read(tmp_path) == {
        "torch.abs": ({"A2": "1", "A3": "1"}, "fp32|fallback"),
        "torch.cuda.empty_cache": ({"A2": "1", "A3": "1"}, ""),
        "torch.asarray": ({"A2": "0", "A3": "0"}, ""),
    }


@pytest.mark.parametrize(
    ("remark", "facts"),
    [
        ("-", ""),
        ("支持double", "fp64"),
        ("不支持double数据类型", "A2:-fp64|A3:-fp64|950:-fp64"),
        ("支持fp16，fp32，int64\nint64类型不支持三个tensor同时广播", "fp16 fp32 int64|no-triple-broadcast"),
        ("- Atlas A2 训练系列产品、Atlas A3 训练系列产品：`self`仅支持bf16，fp16", "A2:bf16 fp16|A3:bf16 fp16"),
        ("- Atlas A3 训练系列产品额外支持bf16", "A3:+bf16"),
        ("支持fp16，bool可能回退至CPU执行", "fp16 bool|fallback"),
        ("一个没有见过的条件\n支持fp32", "fp32|more"),
        ("支持fp32\n```python\nimport torch\n```", "fp32"),
    ],
)
def test_remarks_become_facts(remark, facts):
    assert limits.facts(remark) == facts


def test_a_version_is_laid_beside_the_others_and_again_without_change(tmp_path):
    rows = {"torch.abs": ({"A2": "1", "A3": "1", "950": "0"}, "fp32"), "torch.old": ({"A2": "1", "A3": "1"}, "")}
    documents.lay(tmp_path, "2.6.0", rows, "here")
    documents.lay(tmp_path, "2.7.1", {"torch.abs": ({"A2": "0", "A3": "1", "950": "1"}, "fp16|more")}, "there")
    text = (tmp_path / "support.json").read_text(encoding="utf-8")
    assert '"torch.abs":"10;1;01;1,0"' in text
    assert '"torch.old":"1."' in text
    documents.lay(tmp_path, "2.6.0", rows, "here")
    assert (tmp_path / "support.json").read_text(encoding="utf-8") == text


def test_no_sentence_of_the_documents_is_kept():
    said = store.table("support")["limits"]
    assert not any("\u4e00" <= letter <= "\u9fff" for one in said for letter in one)


def test_support_follows_the_version():
    addcmul = support("2.13.0", "torch.addcmul")
    assert addcmul.status == "supported"
    assert "no-triple-broadcast" in addcmul.words
    assert "bf16" in addcmul.dtypes
    assert dict(support("2.13.0", "torch.nn.functional.conv3d").devices) == {
        "A2": "supported",
        "A3": "supported",
        "950": "unsupported",
    }
    assert support("2.13.0", "torch.nn.DataParallel").status == "unsupported"
    assert support("2.14.0", "torch.abs").documents == "2.13.0"
    assert support("2.1.0", "torch.abs").documents == "2.6.0"
    assert support("2.13.0", "torch.no_such_name") is None


def test_a_family_may_differ():
    found = Support("torch.x", "2.13.0", (("A2", "supported"),), ("fp16", "fp32"), (("A3", "+bf16"), ("950", "-fp16")))
    assert found.dtypes_on("A2") == ("fp16", "fp32")
    assert found.dtypes_on("A3") == ("fp16", "fp32", "bf16")
    assert found.dtypes_on("950") == ("fp32",)


def test_every_condition_has_a_sentence_in_both_languages():
    parts = {part for one in store.table("support")["limits"] for part in one.split("|")}
    used = {part for part in parts if "-" in part and ":" not in part} | {"fallback", "more", "precision", "slow"}
    assert used <= set(words())
    assert all(text["en"] and text["zh"] for text in words().values())
