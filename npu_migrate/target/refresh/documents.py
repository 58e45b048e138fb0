"""``python -m npu_migrate.target.refresh.documents 2.13.0 FOLDER``: what Huawei's documents say for one torch version.

FOLDER is ``docs/zh/api/native_api/pytorch_2-13-0`` (``docs/zh/native_apis/...`` on the older branches) of a checkout
of torch_npu's repository. Two layouts are in use: one section a name with a table of devices, and one table a file.
"""

# ruff: noqa: RUF001 - the documents are written in Chinese

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from npu_migrate.target import store
from npu_migrate.target.refresh import limits, tables
from npu_migrate.target.series import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A heading may be the bare name of a method; the link to torch's own page always has the whole name.
_LINK = re.compile(r"^\*\*原生文档\*\*：\s*\[([^\]]+)\]", re.MULTILINE)
_NAME = re.compile(r"^[A-Za-z_][\w.]*$")
_DEVICE = re.compile(r"^\|\s*(?:<term>)?\s*([^|<]+?)\s*(?:</term>)?\s*\|\s*([^|]+?)\s*\|\s*$")
_REMARK = re.compile(r"^\*\*限制与说明\*\*\s*[：:]?\s*(.*)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\|\s*([^|]+?)\s*\|(?:[^|]*\|)?\s*([^|]*[是否])\s*\|\s*(.*?)\s*\|?\s*$")
_YES, _NO = ("✔", "&#10004;", "是"), ("✘", "&#10008;", "否")
_FAMILY = {"Atlas A2 训练系列产品": "A2", "Atlas A3 训练系列产品": "A3", "Ascend 950DT": "950"}
FAMILIES = ("A2", "A3", "950")

# One name: a letter for each family, and the facts of its remark.
Row = tuple[dict[str, str], str]


def read(folder: Path) -> dict[str, Row]:
    """Every name that the documents list."""
    found: dict[str, Row] = {}
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        rows = _sections(text) if _LINK.search(text) else _table(text)
        found.update({_canonical(name): row for name, row in rows})
    return found


def _canonical(name: str) -> str:
    return "torch." + name if name.startswith("Tensor.") else name


def _letter(text: str) -> str:
    return "1" if text in _YES else "0" if text in _NO else "?"


def _table(text: str) -> Iterator[tuple[str, Row]]:
    """The older layout has one column for all; what differs on a family stands in the remark."""
    for line in text.splitlines():
        row = _ROW.match(line)
        name = row[1].partition("<br>")[0].replace("\\_", "_").strip("`* ") if row else ""
        if row and _NAME.match(name):
            # The cell is one word, or one for each family.
            words = row[2].split("<br>")
            letters = {family: next((one for one in words if family in one), words[-1])[-1] for family in ("A2", "A3")}
            yield name, ({family: _letter(word) for family, word in letters.items()}, limits.facts(row[3]))


def _sections(text: str) -> Iterator[tuple[str, Row]]:
    for part in re.split(r"(?=^\*\*原生文档\*\*：)", text, flags=re.MULTILINE):
        link = _LINK.match(part)
        name = link[1].replace("\\_", "_").strip("`* ") if link else ""
        devices = {
            _FAMILY[device[1]]: _letter(device[2])
            for line in part.splitlines()
            for device in [_DEVICE.match(line)]
            if device and device[1] in _FAMILY
        }
        if devices and _NAME.match(name):
            yield name, (devices, limits.facts(_remark(part)))


def _remark(part: str) -> str:
    """What stands between the remark's title and the end of its box."""
    found = _REMARK.search(part)
    return re.split(r"^(?:</?div|\||#{2,} |> <font)", found[1], maxsplit=1, flags=re.MULTILINE)[0] if found else ""


def lay(folder: Path, torch: str, rows: dict[str, Row], source: str) -> None:
    """Write one torch version's documents into ``support.json``."""
    old = tables.read(folder, "support")
    columns = tables.Columns.adding(old.get("versions", []), torch)
    said: list[str] = old.get("limits", [])
    before: dict[str, dict[str, str]] = {field: {} for field in (*FAMILIES, "limit")}
    for name, packed in old.get("apis", {}).items():
        for field, text in unpack(packed, said, len(columns.before)).items():
            before[field][name] = text
    laid = {
        family: columns.lay(before[family], {name: row[0][family] for name, row in rows.items() if family in row[0]})
        for family in FAMILIES
    }
    width = len(columns.before)
    texts = {name: text.split("\n") for name, text in before["limit"].items()}
    remarks = {}
    for name in {*texts, *rows}:
        letters = dict(zip(columns.before, texts.get(name, [""] * width)))
        letters[torch] = rows[name][1] if name in rows else ""
        remarks[name] = [letters[one] for one in columns.after]
    limit_list = sorted({one for listed in remarks.values() for one in listed if one})
    apis = {
        name: pack([laid[family].get(name, "") for family in FAMILIES], remarks[name], limit_list)
        for name in sorted(remarks)
    }
    tables.write(
        folder,
        "support",
        {
            "versions": columns.after,
            "sources": {**old.get("sources", {}), torch: source},
            "limits": limit_list,
            "apis": {name: packed for name, packed in apis.items() if packed},
        },
    )


def pack(letters: list[str], remarks: list[str], said: list[str]) -> str:
    """``A2;A3;950;limits``: A3 is left empty where it is as A2, limits are numbers a version, the last repeating."""
    a2, a3, a950 = letters
    places = [str(said.index(one)) if one else "" for one in remarks]
    while len(places) > 1 and places[-1] == places[-2]:
        places.pop()
    fields = [a2, "" if a3 == a2 else a3, a950, ",".join(places)]
    return ";".join(fields).rstrip(";")


def unpack(packed: str, said: list[str], width: int) -> dict[str, str]:
    """The reverse of ``pack``; the limits come back as texts, a line for each version."""
    a2, a3, a950, places = [*packed.split(";"), "", "", ""][:4]
    listed = places.split(",") if places else []
    listed += listed[-1:] * (width - len(listed))
    texts = [said[int(place)] if place else "" for place in listed] or [""] * width
    return {"A2": a2 or ABSENT, "A3": a3 or a2 or ABSENT, "950": a950 or ABSENT, "limit": "\n".join(texts)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read one version's folder into the tables."""
    parser = argparse.ArgumentParser(prog="python -m npu_migrate.target.refresh.documents", description=__doc__)
    parser.add_argument("torch", help="the torch version that the documents are about")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--source", default="", help="repository and commit, kept as the source")
    parser.add_argument("--into", type=Path, default=store.folder(), help="the folder of the tables")
    chosen = parser.parse_args(arguments)
    rows = read(chosen.folder)
    lay(chosen.into, chosen.torch, rows, chosen.source)
    sys.stderr.write(f"{chosen.torch}: {len(rows)} names\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
