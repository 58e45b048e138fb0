"""The rules of a run, ready to act: which of them a text concerns, where, and their code, loaded when first needed."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from npu_migrate import packs
from npu_migrate.engine.inspectors import Inspectors
from npu_migrate.engine.mentions import imports_with, mentions
from npu_migrate.literals import occurrences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.work import Work
    from npu_migrate.packs import RuleInfo
    from npu_migrate.rule import Rule
    from npu_migrate.target import Target

# What the audit must answer for, wherever it stands; whatever case it is written in.
ROOTS = ("cuda", "nccl", "cudnn")
WORDS = re.compile("|".join(ROOTS), re.IGNORECASE)
SPELLINGS = ("cuda", "CUDA", "Cuda", "nccl", "NCCL", "Nccl", "cudnn", "CUDNN", "cuDNN", "CuDNN", "Cudnn")


@cache
def any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds each of several literals."""
    return re.compile("|".join(map(re.escape, words)))


class ActiveRules:
    """The rules chosen for a run: codemods, in the order in which they act, and inspectors.

    Without a ``target`` there are no inspectors: what they look for depends on it.
    """

    def __init__(self, infos: Iterable[RuleInfo], target: Target | None = None) -> None:
        infos = tuple(infos)
        self.codes = frozenset(i.code for i in infos)
        python = [i for i in infos if "python" in i.files]
        self.infos = tuple(i for i in python if i.codemod.is_file())
        self.inspectors = Inspectors((i for i in python if i.inspector.is_file()), target)
        searched = [info for info in self.infos if not info.names and info.region != "import"]
        self._words = frozenset(word for info in searched for word in info.keywords)
        self._classes: dict[str, type[Rule]] = {}

    def keywords(self) -> tuple[bytes, ...]:
        """Literals of which a file must contain one to be of interest."""
        words = {word for info in self.infos for word in info.keywords}
        return tuple(word.encode() for word in sorted(words.union(SPELLINGS)))

    def for_module(self, module: PythonModule) -> list[RuleInfo]:
        """The rules of which a keyword or a pattern occurs."""
        held = {word for word in self._words if word in module.text}
        return [info for info in self.infos if _concerns(info, module, held)]

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


def _concerns(info: RuleInfo, module: PythonModule, held: set[str]) -> bool:
    """Whether a rule may act in a file that holds these keywords."""
    if info.names or info.region == "import":
        words = bool(_mentions(module, info))
    else:
        words = not held.isdisjoint(info.keywords)
    return words or any(re.search(pattern, module.text) for pattern in info.also)


def _mentions(module: PythonModule, info: RuleInfo) -> list[int]:
    """Where a rule's names stand; for a rule about imports, those that hold a keyword."""

    def find() -> list[int]:
        if info.region == "import":
            return imports_with(module, info.keywords)
        return mentions(module, info.names, info.keywords)

    return module.fact(f"mentions of {info.code}: {info.keywords}", find)


def hits(module: PythonModule, infos: Sequence[RuleInfo]) -> list[int]:
    """Offsets of the rules' names, keywords and patterns, and of aliases of something with a keyword in it."""
    text = module.text
    found: list[int] = []
    keywords: set[str] = set()
    for info in infos:
        if info.names or info.region == "import":
            found += _mentions(module, info)
        else:
            keywords.update(info.keywords)
    words = tuple(sorted(keywords))
    for word in words:
        found += occurrences(text, word)
    for pattern in sorted({pattern for info in infos for pattern in info.also}):
        found += [match.start() for match in re.finditer(pattern, text)]
    aliases = _aliases(module, any_of(words)) if words else []
    if aliases:
        pattern = r"\b(?:" + "|".join(map(re.escape, aliases)) + r")\b"
        found += [match.start() for match in re.finditer(pattern, text)]
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
