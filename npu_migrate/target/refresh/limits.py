"""The facts in the documents' remarks: data types, device families, and conditions that have a word of their own.

The remarks' sentences are not kept. A condition becomes a word whose meaning is told by ``support.toml``; one that
has no word becomes ``more``: the documents say something further.
"""

# ruff: noqa: RUF001 - the remarks are written in Chinese

from __future__ import annotations

import re

_DTYPE = r"(?:bf16|fp16|fp32|fp64|double|u?int(?:8|16|32|64)|bool|complex(?:32|64|128))"
_DTYPES = re.compile(rf"(?<![A-Za-z0-9_.]){_DTYPE}(?![A-Za-z0-9_.])")
_ONLY = re.compile(
    rf"^(?:`?[A-Za-z_][A-Za-z0-9_]*`?)?(?:参数)?仅?支持(?:输出)?\s*{_DTYPE}(?:\s*[，,、和 ]\s*{_DTYPE})*[。；]?$"
)
_FAMILY = re.compile(r"^(?:针对)?((?:Atlas (?:A2 |A3 )?训练系列产品[/、]?|Ascend 950DT)+)\s*[：:，]?\s*(.*)$")
_FAMILIES = (("A2", "Atlas A2"), ("A3", "Atlas A3"), ("950", "Ascend 950"), ("A1", "Atlas 训练"))
_EXTRA = re.compile(rf"^额外支持({_DTYPE}(?:[，,、]\s*{_DTYPE})*)$")
_WITHOUT = re.compile(rf"^不支持({_DTYPE}(?:[，,、]\s*{_DTYPE})*)(?:数据类型)?$")
_SAME = {"double": "fp64"}

# First match wins; the order matters only for remarks that hold several conditions in one line.
_WORDS = (
    (r"回退至CPU", "fallback"),
    (r"索引存在重复", "repeated-index-950"),
    (r"Named Tensor", "named-tensor"),
    (r"foreach", "foreach-slow"),
    (r"use_compatible_impl", "compatible-impl"),
    (r"仅支持推理场景", "inference-only"),
    (r"三个`?tensor`?同时广播", "no-triple-broadcast"),
    (r"六维以上时可能会出现性能下降", "slow-above-6d"),
    (r"最大支持6维", "at-most-6d"),
    (r"不支持5维|5维以上", "at-most-4d"),
    (r"不支持8维度|不大于8维|1-8维", "at-most-8d"),
    (r"2\^\{22\}", "few-elements"),
    (r"正0和负0", "signed-zero"),
    (r"memory_format", "memory-format"),
    (r"仅CPU支持", "cpu-only"),
    (r"world.size`?不支持3", "world-size"),
    (r"stable", "stable-sort-only"),
    (r"approximate", "gelu-tanh-only"),
    (r"log_target", "no-log-target"),
    (r"sorted", "sorted-only"),
    (r"proj_size", "no-projection"),
    (r"`?dropout`?参数", "no-dropout"),
    (r"scale_factor", "no-scale-factor"),
    (r"嵌套张量", "nested-create-only"),
    (r"不支持稀疏张量", "no-sparse"),
    (r"num_workers", "no-workers"),
    (r"allow_internal_format", "internal-format"),
    (r"NPU融合优化器", "no-fused-optimizer"),
    (r"不支持标量", "no-scalar"),
    (r"不支持nan", "no-nan"),
    (r"target_lengths", "no-empty-target"),
    (r"shape要保持一致|维度需与|维度数需与", "equal-shapes"),
    (r"精度|16777216|16,777,216", "precision"),
    (r"性能", "slow"),
)
_COMPILED = tuple((re.compile(pattern), word) for pattern, word in _WORDS)


def facts(remark: str) -> str:
    """A remark as ``dtypes|family:dtypes|word|...``; empty for a remark that says nothing."""
    found: list[str] = []
    for line in _lines(remark):
        for part in _parts(line):
            if part not in found:
                found.append(part)
    return "|".join([*(part for part in found if part != "more"), *(part for part in found if part == "more")])


def _lines(remark: str) -> list[str]:
    """The remark's statements; example code is none."""
    text = re.sub(r"```.*?(```|$)", "", remark, flags=re.DOTALL)
    lines = (line.strip().lstrip("-• ").strip() for line in re.split(r"\n|<br\s*/?>", text))
    # Some remarks lost the break between the list of types and what follows it.
    split = (
        re.sub(rf"({_DTYPE})(?=可能回退|不支持|memory_format|取值范围|[，,]不支持)", r"\1\n", line) for line in lines
    )
    return [one for line in split for one in line.split("\n") if one and one != "-"]


def _parts(line: str) -> list[str]:
    if _ONLY.match(line):
        return [_listed(line)]
    without = _WITHOUT.match(line)
    if without:
        return [f"{name}:-{_listed(without[1])}" for name, _ in _FAMILIES[:3]]
    family = _FAMILY.match(line)
    if family:
        rest = _of_family(family[2])
        names = [name for name, text in _FAMILIES if text in family[1]]
        if rest:
            return [f"{name}:{rest}" for name in names]
    return [next((word for pattern, word in _COMPILED if pattern.search(line)), "more")]


def _of_family(text: str) -> str:
    if _ONLY.match(text):
        return _listed(text)
    extra, without = _EXTRA.match(text), _WITHOUT.match(text)
    if extra:
        return "+" + _listed(extra[1])
    return "-" + _listed(without[1]) if without else ""


def _listed(text: str) -> str:
    return " ".join(dict.fromkeys(_SAME.get(one, one) for one in _DTYPES.findall(text)))
