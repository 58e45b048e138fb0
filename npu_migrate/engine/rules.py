"""The rules of a run, ready to act: which of them a text concerns, where, and their code, loaded when first needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from npu_migrate import packs

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.work import Work
    from npu_migrate.packs import RuleInfo
    from npu_migrate.rule import Rule

# What the audit must answer for, wherever it stands; whatever case it is written in.
WORDS = re.compile("cuda|nccl|cudnn", re.IGNORECASE)
SPELLINGS = ("cuda", "CUDA", "Cuda", "nccl", "NCCL", "Nccl", "cudnn", "CUDNN", "cuDNN", "CuDNN", "Cudnn")


@cache
def any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds each of several literals."""
    return re.compile("|".join(map(re.escape, words)))


class ActiveRules:
    """The codemod rules chosen for a run, in the order in which they act."""

    def __init__(self, infos: Iterable[RuleInfo]) -> None:
        self.infos = tuple(i for i in infos if "python" in i.files and i.codemod.is_file())
        self._classes: dict[str, type[Rule]] = {}

    def keywords(self) -> tuple[bytes, ...]:
        """Literals of which a file must contain one to be of interest."""
        words = {word for info in self.infos for word in info.keywords}
        return tuple(word.encode() for word in sorted(words.union(SPELLINGS)))

    def for_module(self, module: PythonModule) -> list[RuleInfo]:
        """The rules of which a keyword occurs."""
        return [info for info in self.infos if any(word in module.text for word in info.keywords)]

    def make(self, info: RuleInfo, work: Work) -> Rule:
        """A rule's codemod for one file."""
        return self._class(info)(info, work)

    def hits(self, module: PythonModule, infos: Sequence[RuleInfo]) -> list[int]:
        """Where rules may act: the sites they found themselves, else wherever one of their keywords stands."""
        found: list[int] = []
        by_keyword = []
        for info in infos:
            sites = self._class(info).sites(module)
            if sites is None:
                by_keyword.append(info)
            else:
                found.extend(sites)
        return found + hits(module, by_keyword) if by_keyword else found

    def _class(self, info: RuleInfo) -> type[Rule]:
        if info.code not in self._classes:
            self._classes[info.code] = packs.load_codemod(info)
        return self._classes[info.code]


def hits(module: PythonModule, infos: Sequence[RuleInfo]) -> list[int]:
    """Offsets of the rules' keywords, and of names that stand for something with a keyword in it."""
    words = {word for info in infos for word in info.keywords}
    found = [match.start() for match in any_of(tuple(sorted(words))).finditer(module.text)]
    aliases = _aliases(module, any_of(tuple(sorted(words))))
    if aliases:
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, aliases)) + r")\b")
        found += [match.start() for match in pattern.finditer(module.text)]
    return found


def _aliases(module: PythonModule, words: re.Pattern[str]) -> list[str]:
    """``AC`` after ``from torch.cuda.amp import autocast as AC``: a use of it has no keyword of its own."""
    names = set()
    for scope in module.table.scopes.values():
        for name, bindings in scope.bindings.items():
            imported = any(b.kind == "import" and words.search(b.target) for b in bindings)
            if imported and words.search(name) is None:
                names.add(name)
    return sorted(names)
