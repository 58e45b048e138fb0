"""Dockerfiles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import environment, marks
from npu_migrate.files.images import image
from npu_migrate.files.pins import Pins
from npu_migrate.files.shell import Shell
from npu_migrate.files.shell_words import Command, Comment, Word, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.files.sites import Sites

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\n|\r|\Z)")
_INSTRUCTION = re.compile(r"\s*(?:ONBUILD\s+)?([A-Za-z]+)(?=\s|$)")
_HEREDOC = re.compile(r"<<-?['\"]?([A-Za-z_]\w*)['\"]?")
_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)', re.DOTALL)
_RELEASE = re.compile(r"(?:CUDA|CUDNN|NCCL|CU)(?:_\w+)?$", re.IGNORECASE)
_COMMANDS = {"RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK", "SHELL"}


def scan(sites: Sites, kind: str) -> None:
    """Read a Dockerfile, one instruction with its continuation lines at a time."""
    del kind
    pins = Pins(sites)
    shell = Shell(sites, pins)
    for start, end in _instructions(sites):
        head = _INSTRUCTION.match(sites.text, start, end)
        if head:
            _instruction(sites, shell, head.group(1).upper(), (head.end(), end))
        sites.stay((start, end), marks.STAY_NAME)
    pins.finish()


def _instructions(sites: Sites) -> Iterator[tuple[int, int]]:
    text, at = sites.text, 0
    while at < len(text):
        start, at, more = at, *_line(sites, at)
        stripped = text[start:at].strip()
        if stripped.startswith("#"):
            sites.stay((start, at), marks.STAY_COMMENT)
            continue
        while more and at < len(text):
            line, at, more = at, *_line(sites, at)
            comment = text[line:at].lstrip().startswith("#")
            more = more or comment or not text[line:at].strip()
        for tag in _HEREDOC.findall(text, start, at) if stripped.upper().startswith(("RUN", "COPY")) else ():
            close = re.compile(rf"^[ \t]*{tag}[ \t]*\r?$", re.MULTILINE).search(text, at)
            at = close.end() if close else at
        yield start, at


def _line(sites: Sites, at: int) -> tuple[int, bool]:
    found = _LINE.match(sites.text, at)
    if not found:
        return len(sites.text), False
    return max(found.end(), at + 1), found.group(1).rstrip().endswith(("\\", "`"))


def _instruction(sites: Sites, shell: Shell, name: str, span: tuple[int, int]) -> None:
    if name == "FROM":
        for word in _words(sites, span):
            if not word.value.startswith("--") and word.value.upper() != "AS" and image(sites, word.span, word.value):
                break
    elif name in {"ENV", "ARG"}:
        _variables(sites, _words(sites, span))
    elif name in _COMMANDS:
        strings = [Word(*part.span(), part.group()) for part in _STRING.finditer(sites.text, *span)]
        if sites.text[slice(*span)].lstrip().startswith("[") and strings:
            shell.command(Command(tuple(strings)))
        else:
            shell.scan(span)
    environment.references(sites, *span)


def _words(sites: Sites, span: tuple[int, int]) -> list[Word]:
    words: list[Word] = []
    for event in split(sites.text, span):
        if isinstance(event, Command):
            words.extend(event.words)
        elif isinstance(event, Comment):
            sites.stay(event, marks.STAY_COMMENT)
    return words


def _variables(sites: Sites, words: list[Word]) -> None:
    if words and "=" not in words[0].value and len(words) > 1:
        pairs = [(words[0].value, " ".join(word.value for word in words[1:]), (words[0].start, words[-1].end))]
    else:
        pairs = [(*word.value.partition("=")[::2], word.span) for word in words]
    for name, value, span in pairs:
        if environment.assigned(sites, span, name, value) or image(sites, span, value, sure=False):
            continue
        if _RELEASE.match(name) and re.fullmatch(r"(?:cu)?\d[\d.]*", value):
            sites.add(span, marks.TOOLKIT_RELEASE, name, name=name, value=value)
        elif "/usr/local/cuda" in value:
            sites.add(span, marks.TOOLKIT_PATH, name, path=value)
