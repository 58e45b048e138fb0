"""Finds rules and reads what each says about itself; a rule's code is loaded only when it runs.

Rules come from the package (the wheel ships them), else from beside it (a checkout), from folders the user names, and
from entry points ``npu_migrate.rules``, each a module or package whose folder holds rule folders.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import metadata
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from npu_migrate import tomlfile
from npu_migrate.errors import InputError
from npu_migrate.model import Safety
from npu_migrate.wording import LANGUAGES, fill, gaps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from npu_migrate.inspector import Inspector
    from npu_migrate.model import Text
    from npu_migrate.rule import Rule

STATUSES = ("stable", "preview", "deprecated")
REVIEWS = ("merge", "skim", "careful")
REGIONS = ("statement", "import", "function", "class", "module")
CODE = re.compile(r"[A-Z]{2,}\d{3,4}")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

Kind = TypeVar("Kind")

_HERE = Path(__file__).resolve().parent
_DEPTHS = ("rule.toml", "*/rule.toml", "*/*/rule.toml")
_GROUP = "npu_migrate.rules"
_VERSION = re.compile(r"\d+\.\d+\.\d+")


class PackError(InputError):
    """A rule folder that cannot be used, or a rule that does not exist."""


@dataclass(frozen=True)
class RuleInfo:
    """What ``rule.toml`` says.

    ``keywords`` are literals: a file with one of them is read at all, a statement with one is visited. ``also`` are
    regular expressions for further statements, of files that are read anyway. ``names`` are absolute dotted names: with
    them, only statements that may mean one of these, or what is below, are visited, however the file spells it.
    """

    code: str
    name: str
    since: str
    status: str
    safety: Safety
    review: str
    keywords: tuple[str, ...]
    region: str
    files: tuple[str, ...]
    references: tuple[str, ...]
    title: Mapping[str, str] = field(hash=False)
    messages: Mapping[str, Mapping[str, str]] = field(hash=False)
    folder: Path
    order: int = 0
    also: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def page(self, lang: str) -> Path:
        """The rule's page in one language."""
        return self.folder / f"{lang}.md"

    @property
    def codemod(self) -> Path:
        """The rule's code."""
        return self.folder / "codemod.py"

    @property
    def inspector(self) -> Path:
        """The code of a rule that only reports."""
        return self.folder / "inspector.py"

    @property
    def source(self) -> Path | None:
        """Whichever of the two it has; none for rules whose sites an adapter or the engine finds."""
        return next((path for path in (self.codemod, self.inspector) if path.is_file()), None)

    @property
    def fixtures(self) -> Path:
        """Its cases: inside the rule's folder, else in the checkout's ``fixtures/``, where built-in rules keep them."""
        inside = self.folder / "fixtures"
        return inside if inside.is_dir() else _HERE.parent / "fixtures" / self.folder.name


class Registry:
    """The rules of one run."""

    def __init__(self, rules: Iterable[RuleInfo]) -> None:
        """Index the rules; a code or name may occur once."""
        self._rules = tuple(sorted(rules, key=lambda rule: rule.code))
        self._index: dict[str, RuleInfo] = {}
        for rule in self._rules:
            for key in (rule.code, rule.name):
                other = self._index.setdefault(key, rule)
                if other is not rule:
                    raise PackError(says="rule-twice", name=key, path=rule.folder, other=other.folder)

    def all(self) -> tuple[RuleInfo, ...]:
        """Every rule, by code."""
        return self._rules

    def find(self, name: str) -> RuleInfo:
        """The rule with this code (in either case) or name.

        Raises:
            PackError: there is none; says what comes near.
        """
        rule = self._index.get(name) or self._index.get(name.upper())
        return rule or self._unknown(name)

    def select(self, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[RuleInfo, ...]:
        """The rules that run, in the order they run in; without ``select`` that is every rule.

        Raises:
            PackError: a selector (code, prefix of codes, or name) fits no rule.
        """
        chosen = self._named(select) if select else set(self._rules)
        chosen -= self._named(ignore)
        return tuple(sorted(chosen, key=lambda rule: (rule.order, rule.code)))

    def message(self, text: Text, lang: str, *, strict: bool = False) -> str:
        """The sentence of a finding.

        A rule that names a message it lacks is a bug of the rule, which must not cost the user the report: the key and
        the facts stand in for it, unless ``strict``, as tests are.
        """
        facts = dict(text.facts)
        rule = self._index.get(text.rule)
        words = rule.messages.get(text.key) if rule else None
        if words is not None and not (strict and gaps(words[lang]) - facts.keys()):
            return fill(words[lang], facts)
        if strict:
            raise PackError(says="message-unknown", rule=text.rule, message=text.key, facts=sorted(facts))
        return " ".join([text.key, *(f"{name}={value}" for name, value in text.facts)])

    def title(self, code: str, lang: str) -> str:
        """A rule's title; empty for a code that is not known."""
        rule = self._index.get(code)
        return rule.title[lang] if rule else ""

    def _named(self, selectors: Sequence[str]) -> set[RuleInfo]:
        named: set[RuleInfo] = set()
        for selector in selectors:
            fits = {rule for rule in self._rules if selector == rule.name or rule.code.startswith(selector.upper())}
            named |= fits if selector and fits else {self._unknown(selector)}
        return named

    def _unknown(self, name: str) -> NoReturn:
        begun = [rule.code for rule in self._rules if name and rule.code.startswith(name.upper())][:3]
        near = begun or [
            near for case in (name.upper(), name.lower()) for near in get_close_matches(case, self._index, 3)
        ]
        raise PackError(says="rule-unknown-near" if near else "rule-unknown", name=name, near=", ".join(near))


def load(extra: Sequence[Path] = ()) -> Registry:
    """Read every rule: built in, from entry points, and from the folders of ``--rules``.

    Raises:
        PackError: a folder or a ``rule.toml`` cannot be used.
    """
    folders = [builtin(), *_entry_points(), *extra]
    return Registry(read(path) for path in dict.fromkeys(path for folder in folders for path in rule_files(folder)))


def builtin() -> Path:
    """The folder of the built-in rules."""
    inside = _HERE / "rules"
    return inside if inside.is_dir() else _HERE.parent / "rules"


def rule_files(folder: Path) -> list[Path]:
    """Each ``rule.toml`` of a pack: of the folder itself, its folders, and theirs (families).

    Raises:
        PackError: there is none.
    """
    folder = folder.resolve()
    found = sorted(path for depth in _DEPTHS for path in folder.glob(depth))
    if not found:
        raise PackError(says="no-rules", path=folder)
    return found


def has_rules(folder: Path) -> bool:
    """Whether a folder is a pack."""
    return any(any(folder.glob(depth)) for depth in _DEPTHS)


def _entry_points() -> Iterator[Path]:
    if sys.version_info >= (3, 10):
        points: Iterable[metadata.EntryPoint] = metadata.entry_points(group=_GROUP)
    else:
        points = metadata.entry_points().get(_GROUP, [])
    for point in sorted(points, key=lambda point: point.name):
        try:
            spec = importlib.util.find_spec(point.value)
        except (ImportError, ValueError):
            spec = None
        if spec is None or spec.origin is None:
            raise PackError(says="entry-point", name=point.name, value=point.value)
        yield Path(spec.origin).parent


def read(path: Path) -> RuleInfo:
    """Read and check one ``rule.toml``.

    Raises:
        PackError: the first thing that is wrong with it.
    """
    table = _Table(path, tomlfile.read(path))
    rule = RuleInfo(
        code=table.text("code", pattern=CODE),
        name=table.text("name", pattern=NAME),
        since=table.text("since", pattern=_VERSION),
        status=table.choice("status", STATUSES),
        safety=Safety(table.choice("safety", [safety.value for safety in Safety])),
        review=table.choice("review", REVIEWS),
        keywords=table.texts("keywords"),
        region=table.choice("region", REGIONS),
        files=table.texts("files"),
        references=table.texts("references"),
        title=table.words("title"),
        messages=table.messages(),
        folder=path.parent,
        order=table.number("order"),
        also=table.patterns("also"),
        names=table.texts("names") if "names" in table.values else (),
    )
    table.finish(RuleInfo.__dataclass_fields__.keys() - {"folder"})
    return rule


class _Table:
    """One ``rule.toml`` while it is checked: every accessor returns a value of the right type or says what is wrong."""

    def __init__(self, path: Path, values: Mapping[str, Any]) -> None:
        self.path = path
        self.values = values

    def fail(self, says: str, **facts: object) -> NoReturn:
        raise PackError(says, path=self.path, **facts)

    def get(self, key: str, kind: type, example: str) -> Any:  # noqa: ANN401 - TOML holds anything; checked here
        if key not in self.values:
            self.fail("rule-key-missing", key=key)
        value = self.values[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fail("rule-key-type", key=key, example=example)
        return value

    def text(self, key: str, pattern: re.Pattern[str]) -> str:
        value: str = self.get(key, str, '"…"')
        if not pattern.fullmatch(value):
            self.fail("rule-key-form", key=key, value=value, pattern=pattern.pattern)
        return value

    def choice(self, key: str, choices: Sequence[str]) -> str:
        value: str = self.get(key, str, '"…"')
        if value not in choices:
            self.fail("rule-key-choice", key=key, value=value, choices=", ".join(choices))
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.get(key, list, '["…"]')
        if not all(isinstance(item, str) and item for item in value):
            self.fail("rule-key-type", key=key, example='["…"]')
        return tuple(value)

    def patterns(self, key: str) -> tuple[str, ...]:
        found = self.texts(key) if key in self.values else ()
        wrong = next((pattern for pattern in found if not _compiles(pattern)), None)
        if wrong is not None:
            self.fail("rule-key-form", key=key, value=wrong, pattern="regular expression")
        return found

    def number(self, key: str) -> int:
        value: int = self.get(key, int, "1") if key in self.values else 0
        return value

    def words(self, key: str) -> Mapping[str, str]:
        return self._words(key, self.get(key, dict, 'en = "…", zh = "…"'))

    def messages(self) -> Mapping[str, Mapping[str, str]]:
        tables = self.get("messages", dict, "[messages.…]")
        return {key: self._words(f"messages.{key}", table) for key, table in tables.items()}

    def finish(self, known: Iterable[str]) -> None:
        for key in self.values.keys() - set(known):
            near = get_close_matches(key, known, 1)
            self.fail("rule-key-unknown-near" if near else "rule-key-unknown", key=key, near=", ".join(near))

    def _words(self, key: str, value: object) -> Mapping[str, str]:
        if not isinstance(value, dict) or set(value) != set(LANGUAGES) or not all(map(_is_sentence, value.values())):
            self.fail("rule-key-type", key=key, example='en = "…", zh = "…"')
        return value


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _is_sentence(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def load_codemod(info: RuleInfo) -> type[Rule]:
    """Import a rule's ``codemod.py`` by path and return its one ``Rule`` subclass.

    Raises:
        PackError: the file is missing, does not import, or does not define exactly one rule.
    """
    from npu_migrate.rule import Rule  # noqa: PLC0415 - brings LibCST, which listing rules must not load

    return _only_class(info, info.codemod, Rule)


def load_inspector(info: RuleInfo) -> type[Inspector]:
    """Import a rule's ``inspector.py`` by path and return its one ``Inspector`` subclass.

    Raises:
        PackError: the file is missing, does not import, or does not define exactly one rule.
    """
    from npu_migrate.inspector import Inspector  # noqa: PLC0415 - what reads files must not be loaded to list rules

    return _only_class(info, info.inspector, Inspector)


def _only_class(info: RuleInfo, path: Path, base: type[Kind]) -> type[Kind]:
    if not path.is_file():
        raise PackError(says="codemod-missing", path=path)
    module = _import(info, path)
    found = [value for value in vars(module).values() if _is_rule(value, base, module.__name__)]
    if len(found) != 1:
        raise PackError(says="codemod-count", path=path, count=len(found))
    one: type[Kind] = found[0]
    return one


def _import(info: RuleInfo, path: Path) -> ModuleType:
    """Run a rule's file under a name of its own: two packs may both have a folder of the same name."""
    digest = hashlib.blake2s(bytes(path), digest_size=4).hexdigest()
    name = f"npu_migrate_rule_{info.code.lower()}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    loader = SourceFileLoader(name, str(path))
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except Exception as error:  # code of a third party: anything may come out of it
        del sys.modules[name]
        raise PackError(says="codemod-broken", path=path, reason=f"{type(error).__name__}: {error}") from error
    return module


def _is_rule(value: object, base: type, module: str) -> bool:
    return isinstance(value, type) and issubclass(value, base) and value.__module__ == module
