"""The names of torch_npu that rules write or speak of: what comes out of all fixtures, for any release and style."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from npu_migrate import packs, target
from npu_migrate.engine.run import migrate_text
from npu_migrate.engine.settings import Settings
from npu_migrate.model import Safety, Status

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
NAME = re.compile(r"\b(?:torch_npu|torch\.npu)(?:\.[A-Za-z_]\w*)+")
STYLES = ("npu", "portable")
# Rules and messages that name what a release lacks, to say so.
DENYING = {("NPU106", "missing"), ("NPU210", "")}


@lru_cache(maxsize=1)
def inputs():
    return tuple((path.as_posix(), path.read_bytes()) for path in sorted(FIXTURES.glob("npu*/*.in.py")))


def emitted(release):
    """Two sets of pairs, rule and name: what is written into programs, and what sentences tell the reader to use."""
    registry = packs.load()
    written, said = set(), set()
    for style in STYLES:
        settings = Settings(target=target.load(f"=={release}"), safety=Safety.NUMERICS, style=style, registry=registry)
        for path, data in inputs():
            theirs = set(NAME.findall(data.decode()))
            for found in migrate_text(path, data, settings).findings:
                after = found.after if found.status is Status.REWRITTEN else ""
                written |= {(found.rule, name) for name in set(NAME.findall(after or "")) - theirs}
                if not DENYING & {(found.rule, found.text.key), (found.rule, "")}:
                    names = NAME.findall(registry.message(found.text, "en"))
                    said |= {(found.rule, name) for name in set(names) - theirs}
    return written, said


def is_there(one, name):
    """Whether the tables have a name or, for an attribute of an object or a class, what it is an attribute of."""
    return one.has(name) or one.kind(name.rpartition(".")[0]) in {"data", "class"}
