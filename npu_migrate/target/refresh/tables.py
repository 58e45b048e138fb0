"""Lays one release's facts into the tables, and writes them: the same facts always give the same bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from npu_migrate.target import series, versions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from npu_migrate.target.refresh.facts import Facts

# What forwards or composes never lacks a CUDA side that matters; only these letters make the question interesting.
_WORSE = frozenset("FfXx")


@dataclass
class Columns:
    """Where the new release goes among the known ones."""

    before: list[str]
    after: list[str]
    release: str

    @classmethod
    def adding(cls, before: list[str], release: str) -> Columns:
        """The columns with one more release (or the same, where it is known)."""
        return cls(before, sorted({*before, release}, key=versions.key), release)

    def lay(self, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
        """Every series with the release's letters in its column; what no release has goes."""
        found = {}
        for key in sorted({*old, *new}):
            letters = dict(zip(self.before, series.expand(old.get(key, series.ABSENT), len(self.before))))
            letters[self.release] = new.get(key, series.ABSENT)
            text = series.join([letters[one] for one in self.after])
            if text != series.ABSENT:
                found[key] = text
        return found

    def newest_wins(self, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
        """For what hardly ever changes: one text for all releases, in whatever order they are refreshed."""
        merged = {**old, **new} if self.release == self.after[-1] else {**new, **old}
        return dict(sorted(merged.items()))

    def lay_nested(self, old: Mapping[str, Mapping[str, str]], new: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
        """The same, one level down."""
        laid = {key: self.lay(old.get(key, {}), new.get(key, {})) for key in sorted({*old, *new})}
        return {key: value for key, value in laid.items() if value}


def read(folder: Path, name: str) -> dict[str, Any]:
    """One table as it stands on the disk."""
    path = folder / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_bytes()) if path.is_file() else {}
    return found


def write(folder: Path, name: str, table: Mapping[str, Any]) -> None:
    """One table, a line for each fact, so that a change can be read as a diff."""
    (folder / f"{name}.json").write_text(text(table, 2) + "\n", encoding="utf-8")


def text(value: Any, depth: int) -> str:  # noqa: ANN401 - anything that JSON can hold
    """JSON with dictionaries opened ``depth`` levels deep, everything below on one line."""
    if not isinstance(value, dict) or not depth or not value:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    inner = ",\n".join(
        f"{json.dumps(str(key), ensure_ascii=False)}:{text(one, depth - 1)}" for key, one in value.items()
    )
    return "{\n" + inner + "\n}"


def lay_facts(folder: Path, release: str, row: Mapping[str, Any], facts: Facts) -> None:
    """Write one release into every derived table."""
    known = read(folder, "releases")
    columns = Columns.adding(list(known.get("releases", {})), release)
    rows = {**known.get("releases", {}), release: row}
    write(folder, "operators", _operators(read(folder, "operators"), columns, facts))
    write(folder, "names", _names(read(folder, "names"), columns, facts))
    custom = read(folder, "custom")
    write(folder, "custom", {**custom, "operators": _custom(custom.get("operators", {}), columns, facts)})
    cuda = read(folder, "cuda")
    names = columns.lay(cuda.get("names", {}), dict.fromkeys(facts.cuda_names, "1"))
    write(folder, "cuda", {**cuda, "names": names})
    environment = read(folder, "environment")
    read_by = columns.lay(environment.get("read", {}), facts.environment)
    write(folder, "environment", {**environment, "read": read_by})
    codes = read(folder, "errors")
    # Codes are only ever added: what an older release could say may still be met in a log.
    added = {key: columns.newest_wins(codes.get(key, {}), found) for key, found in facts.errors.items()}
    write(folder, "errors", {**codes, **added})
    write(folder, "releases", {**known, "releases": {one: rows[one] for one in columns.after}})


def _operators(old: Mapping[str, Any], columns: Columns, facts: Facts) -> dict[str, Any]:
    statuses = columns.lay(old.get("operators", {}), facts.operators)
    # Kept as "CUDA has none": the rare case, and only where the NPU has none either.
    lacking = {name: "0" for name, letter in facts.operators.items() if letter in _WORSE and name not in facts.cuda}
    return {
        "operators": statuses,
        "via": columns.newest_wins(old.get("via", {}), facts.via),
        "python": _python(old.get("python", {}), facts.python),
        "only": columns.newest_wins(old.get("only", {}), facts.only),
        "no_cuda": columns.lay(old.get("no_cuda", {}), lacking),
    }


def _python(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """A method that one torch has and another has not is a method: what exists is the operators' business."""
    joined = dict(old)
    for base, spelled in new.items():
        module, _, variants = spelled.partition(":")
        before = joined.get(base, f"{module}:").partition(":")
        joined[base] = f"{module or before[0]}:{''.join(sorted({*variants, *before[2]}))}"
    return dict(sorted(joined.items()))


def _names(old: Mapping[str, Any], columns: Columns, facts: Facts) -> dict[str, Any]:
    members = {owner: dict.fromkeys(listed, "1") for owner, listed in facts.members.items()}
    return {
        "names": columns.lay_nested(old.get("names", {}), facts.names),
        "members": columns.lay_nested(old.get("members", {}), members),
        "modules": columns.lay(old.get("modules", {}), dict.fromkeys(facts.names, "1")),
    }


def _custom(old: Mapping[str, Mapping[str, str]], columns: Columns, facts: Facts) -> dict[str, Any]:
    return columns.lay_nested(old, {name: {schema: "1"} for name, schema in facts.custom.items()})
