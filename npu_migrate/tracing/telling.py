"""A trace and what a release makes of it, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from npu_migrate.tracing.coverage import GROUPS, TROUBLE
from npu_migrate.wording import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.tracing.coverage import Coverage, Row
    from npu_migrate.tracing.trace import Use

_MESSAGES = Path(__file__).with_name("messages.toml")
_PLACES = 8
_SHAPES = 3
_NO_TORCH_NPU = "No module named 'torch_npu'"
_CUDA = ("CUDA", "NVIDIA driver")


def words(lang: str) -> Words:
    """The sentences in one language."""
    return Words(lang, _MESSAGES)


class Group(NamedTuple):
    """Operators with one kind of trouble."""

    kind: str
    rows: list[Row]

    def uses(self, row: Row) -> tuple[Use, ...]:
        """Where one of them has it."""
        return row.of_types if self.kind == "types" else row.uses

    def title(self, say: Words) -> str:
        """The heading."""
        return say(f"trouble.{self.kind}", count=len(self.rows))


def groups(coverage: Coverage) -> list[Group]:
    """What there is to tell, worst first."""
    found = (Group(kind, coverage.trouble(kind)) for kind in TROUBLE)
    return [group for group in found if group.rows]


def about(coverage: Coverage, say: Words) -> list[str]:
    """What ran, how it ended, and the figures; a sentence each."""
    trace = coverage.trace
    facts = {"command": " ".join(trace.command), "torch": trace.torch, "device": trace.device}
    lines = [say("traced", **facts) if trace.torch else say("not-traced", **facts)]
    lines.append(say(f"ended.{trace.ended}", code=trace.exit_code, steps=trace.steps, error=trace.error))
    if _NO_TORCH_NPU in trace.error:
        lines.append(say("hint.migrated"))
    elif trace.ended == "failed" and any(word in trace.error for word in _CUDA):
        lines.append(say("hint.cuda"))
    if trace.torch and _series(trace.torch) != _series(coverage.torch):
        lines.append(say("other-torch", torch=coverage.torch))
    counts = {group.replace("-", "_"): count for group, count in coverage.counts().items()}
    kinds = len(coverage.rows)
    lines.append(
        say("figures", kinds=kinds, calls=trace.calls, torch_npu=coverage.torch_npu, **counts)
        if kinds
        else say("nothing")
    )
    return lines


def _series(version: str) -> list[str]:
    return version.partition("+")[0].split(".")[:2]


def brief(coverage: Coverage, lang: str) -> str:
    """All of it in one line."""
    say = words(lang)
    counts = {group.replace("-", "_"): count for group, count in coverage.counts().items()}
    facts = {"command": " ".join(coverage.trace.command), "kinds": len(coverage.rows)}
    return say("brief", **facts, **counts, types=len(coverage.trouble("types")))


def remark(row: Row, kind: str, say: Words) -> str:
    """What there is to say about one operator, besides its name; empty if nothing is."""
    if kind == "types":
        return say("remark.types", api=row.documented, types=", ".join(row.types))
    if kind == "unknown":
        return say("remark.foreign") if not row.name.startswith("aten::") else ""
    return say("remark.because", operator=f"aten::{row.because}") if row.because else ""


def place(use: Use, say: Words) -> str:
    """Where in the model an operator ran."""
    name = say("outside") if use.phase == "outside" else use.module
    if use.kind not in {"", use.module}:
        name += f" ({use.kind})"
    return f"{say(f'phase.{use.phase}')} {name}".rstrip()


def tensors(use: Use) -> str:
    """What an operator took there; a few of the shapes."""
    shown = [text for text in use.inputs if text][:_SHAPES]
    rest = "; ..." if use.more or len(use.inputs) > len(shown) > 0 else ""
    return "; ".join(shown) + rest


def text(coverage: Coverage, lang: str, *, modules: bool = False) -> str:
    """The report for people; ``modules`` adds a line for each module."""
    say = words(lang)
    lines = about(coverage, say)
    for group in groups(coverage):
        lines += ["", group.title(say)]
        for row in group.rows:
            told = remark(row, group.kind, say)
            lines.append(f"  {row.name}" + (f"  {told}" if told else ""))
            lines += _uses(group.uses(row), say)
    if modules:
        lines += ["", say("modules"), *_modules(coverage, say)]
    return "\n".join(lines) + "\n"


def _uses(uses: tuple[Use, ...], say: Words) -> Iterator[str]:
    for use in uses[:_PLACES]:
        parts: list[Any] = [place(use, say), use.where, f"x{use.count}", tensors(use)]
        yield "    " + "  ".join(part for part in parts if part)
    rest = len(uses) - _PLACES
    if rest > 0:
        yield say("more", count=rest)


def _modules(coverage: Coverage, say: Words) -> Iterator[str]:
    for module, kind, counts in coverage.modules():
        told = ", ".join(say(f"group.{group}", count=counts[group]) for group in GROUPS if counts[group])
        yield f"  {module} ({kind})  {told}"
