"""Files that nothing could be done about: why, and which of their lines speak of CUDA."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.engine.rules import WORDS
from npu_migrate.engine.work import ENGINE
from npu_migrate.model import Finding, Span, Status, Text

if TYPE_CHECKING:
    from npu_migrate.engine.text import SourceText

CODE = "NPU199"
# What Python 3 never took: statements without parentheses, `except A, e`, `raise A, "..."`, backquotes, <>, 5L, 0777.
PYTHON2 = re.compile(
    r"^\s*(?:print|exec)\s+[\w\"'%(]|^\s*print\s*>>|^\s*except\s+[\w.]+\s*,\s*[a-z_]\w*\s*:|^\s*raise\s+[\w.]+\s*,"
    r"|<>|`|\b\d+[lL]\b|\b0\d+\b|\bur[\"']",
)


def unparsable(path: str, source: SourceText, error: Exception) -> list[Finding]:
    """A file that the running Python cannot parse, and each of its lines about CUDA."""
    line = min(getattr(error, "lineno", None) or 1, len(source.line_starts))
    said = getattr(error, "msg", None) or str(error)
    key = _age(source, line) if isinstance(error, SyntaxError) else "unparsable"
    facts = (("error", said), ("python", f"{sys.version_info[0]}.{sys.version_info[1]}"))
    finding = Finding(ENGINE, path, Span(line, 1, line, 1), Status.UNREADABLE, Text(ENGINE, key, facts))
    return [finding, *_lines(path, source, "unread")]


def told(error: Exception) -> str:
    """An error of this tool's own, for a finding."""
    return f"{type(error).__name__}: {error}"


def failed(path: str, source: SourceText, rule: str, error: str) -> list[Finding]:
    """A file on which a rule failed, and each of its lines about CUDA, which nobody judged."""
    text = Text(ENGINE, "rule-failed", (("rule", rule), ("error", error)))
    finding = Finding(ENGINE, path, Span(1, 1, 1, 1), Status.UNREADABLE, text)
    return [finding, *_lines(path, source, "unjudged")]


def _age(source: SourceText, line: int) -> str:
    """Whether a syntax error comes from Python 2, or from a Python that is newer than this one."""
    if PYTHON2.search(source.line(line)):
        return "python2"
    try:
        cst.parse_module(source.text)  # its grammar does not depend on the Python that runs it
    except (cst.ParserSyntaxError, RecursionError, ValueError):
        return "unparsable"
    return "newer"


def _lines(path: str, source: SourceText, key: str) -> list[Finding]:
    """Each line about CUDA: for a person to look at."""
    found = []
    for number in range(1, len(source.line_starts) + 1):
        line = source.line(number)
        match = WORDS.search(line)
        if match is not None:
            span = Span(number, match.start() + 1, number, len(line.rstrip()) + 1)
            text = Text(CODE, key, (("line", line.strip()),))
            found.append(Finding(CODE, path, span, Status.MANUAL, text, before=line.strip()))
    return found
