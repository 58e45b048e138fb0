"""What Huawei's documents say about a name of torch: supported or not, for which devices, with which types.

The words for conditions are explained by ``support.toml``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_migrate.target import store, versions
from npu_migrate.target.series import at

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.target.target import Target

FAMILIES = ("A2", "A3", "950")
UNSUPPORTED = "unsupported"
_STATUS = {"1": "supported", "0": UNSUPPORTED, "?": "unclear"}
_TYPES = {"fp16": "float16", "fp32": "float32", "fp64": "float64", "bf16": "bfloat16"}
# What is documented for a function holds for the products that it consists of.
_OVER = dict.fromkeys(("addmm", "bmm", "matmul", "mm"), ("torch.nn.functional.linear", "torch.baddbmm"))
_INDEXED = ("aten::index.", "aten::index_put", "aten::_index_put")
_PART = ("A1:", "A2:", "A3:", "950:")


@dataclass(frozen=True)
class Support:
    """One name in the documents of one torch version (the nearest documented one, ``documents``).

    ``devices`` gives each family's own word; ``dtypes`` are those that are named as supported (none named: no limit
    is), ``families`` what differs on a family (``+bf16``, ``-complex64``, or a whole list), ``words`` the conditions.
    """

    name: str
    documents: str
    devices: tuple[tuple[str, str], ...]
    dtypes: tuple[str, ...] = ()
    families: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """The A2 family's word, which is the one that every document has."""
        return dict(self.devices).get("A2", "unlisted")

    @property
    def fallback(self) -> bool:
        """Whether the documents say that it may run on the CPU."""
        return "fallback" in self.words

    def dtypes_on(self, family: str) -> tuple[str, ...]:
        """The types that are named for one family; empty where none are named."""
        found = list(self.dtypes)
        for name, text in self.families:
            if name == family and text.startswith("+"):
                found += text[1:].split()
            elif name == family and text.startswith("-"):
                found = [one for one in found if one not in text[1:].split()]
            elif name == family:
                found = text.split()
        return tuple(found)

    def facts(self) -> dict[str, Any]:
        """The JSON form."""
        found: dict[str, Any] = {"torch": self.documents, "devices": dict(self.devices)}
        if self.dtypes:
            found["dtypes"] = list(self.dtypes)
        if self.families:
            found["families"] = [{"family": name, "dtypes": text} for name, text in self.families]
        if self.words:
            found["conditions"] = list(self.words)
        return found


def documented_for(torch: str) -> str:
    """The version whose documents stand for a torch version: its own, else the newest older one, else the oldest."""
    known: list[str] = store.table("support").get("versions", [])
    older = [one for one in known if versions.key(one) <= versions.key(torch)]
    return older[-1] if older else (known[0] if known else "")


def support(torch: str, name: str) -> Support | None:
    """What the documents say; ``None`` where they do not have the name."""
    table = store.table("support")
    packed = table.get("apis", {}).get(name)
    if packed is None:
        return None
    documents = documented_for(torch)
    column = table["versions"].index(documents)
    a2, a3, a950, limits = [*packed.split(";"), "", "", ""][:4]
    letters = zip(FAMILIES, (a2, a3 or a2, a950))
    devices = tuple((family, _STATUS[at(one, column)]) for family, one in letters if at(one, column) in _STATUS)
    if not devices:
        return None
    numbers = limits.split(",") if limits else [""]
    number = numbers[min(column, len(numbers) - 1)]
    parts = table["limits"][int(number)].split("|") if number else []
    plain = [part for part in parts if part and not part.startswith(_PART)]
    dtypes = [part for part in plain if part.split()[0] in _DTYPES]
    return Support(
        name,
        documents,
        devices,
        tuple(dict.fromkeys(one for part in dtypes for one in part.split())),
        tuple((family, text) for part in parts if part.startswith(_PART) for family, _, text in (part.partition(":"),)),
        tuple(part for part in plain if part not in dtypes),
    )


def denied(torch: str) -> Iterator[str]:
    """The names that the documents call unsupported; without reading more of them than that."""
    table = store.table("support")
    column = table["versions"].index(documented_for(torch)) if table else 0
    for name, packed in table.get("apis", {}).items():
        if _STATUS.get(at(packed.partition(";")[0], column)) == UNSUPPORTED:
            yield name


_DTYPES = frozenset(
    "bf16 fp16 fp32 fp64 uint8 uint16 uint32 uint64 int8 int16 int32 int64 bool complex32 complex64 complex128".split()
)


@lru_cache(maxsize=1)
def words() -> dict[str, dict[str, str]]:
    """The sentence for each condition: word, then language."""
    found: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[
        "words"
    ]
    return found


def documented_types(target: Target, operator: str, family: str = "A2") -> tuple[str, frozenset[str]]:
    """A Python name of ``aten::base.overload`` and torch's names of the types that its documents give for a family.

    What any of the operator's names takes counts; both are empty where the documents name no types. Those of indexing
    name the types of the indices.
    """
    named, taken = "", frozenset[str]()
    if operator.startswith(_INDEXED):
        return named, taken
    base = operator.removeprefix("aten::").partition(".")[0]
    for name in (*target.spellings(base), *_OVER.get(base, ())):
        documented = support(target.torch, name)
        if documented and documented.dtypes_on(family):
            named = named or name
            taken |= {_TYPES.get(one, one) for one in documented.dtypes_on(family)}
    return named, taken
