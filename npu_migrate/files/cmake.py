"""CMake files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks

if TYPE_CHECKING:
    from npu_migrate.files.sites import Sites

_TOKEN = re.compile(
    r"""(?P<comment>\#\[\[.*?(?:\]\]|\Z)|\#[^\r\n]*)
    |(?P<head>[A-Za-z_]\w*)[ \t]*\(
    |(?P<string>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z))
    |(?P<word>[^\s()"\#]+)""",
    re.VERBOSE | re.DOTALL,
)
_PACKAGE = re.compile(r"(?:CUDA|CUDAToolkit|CUDNN|NCCL|cuDNN|TensorRT|CUB|Thrust)$", re.IGNORECASE)
_FINDERS = {"find_package", "find_dependency"}
_LANGUAGES = {"enable_language", "project", "check_language"}
_SOURCE = re.compile(r"[\w./${}*-]+\.cuh?$")
_WANTED = re.compile(r"cuda|nccl|cudnn|nvcc|cublas|curand|nvinfer|/cu\d{2,3}\b", re.IGNORECASE)
_TEXT = {"message", "option"}


def scan(sites: Sites, kind: str) -> None:
    """Read a CMake file; every command is a head with words."""
    del kind
    head = ""
    for token in _TOKEN.finditer(sites.text):
        if token.group("comment"):
            sites.stay(token.span(), marks.STAY_COMMENT)
        elif token.group("head"):
            head = token.group("head").lower()
            _word(sites, "", token.span("head"))
        elif token.group("string") and (head == "message" or (head in _TEXT and " " in token.group())):
            sites.stay(token.span(), marks.STAY_TEXT)
        else:
            _word(sites, head, token.span())


def _word(sites: Sites, head: str, span: tuple[int, int]) -> None:
    word = sites.text[slice(*span)].strip('"')
    if head in _FINDERS and _PACKAGE.match(word):
        sites.add(span, marks.BUILD_PACKAGE, word, package=word)
    elif head in _LANGUAGES and word == "CUDA":
        sites.add(span, marks.BUILD_LANGUAGE, word)
    elif _SOURCE.match(word):
        sites.add(span, marks.BUILD_SOURCE, word, source=word)
    elif re.match(r"https?://\S*/cu\d{2,3}\b", word):
        sites.add(span, marks.BUILD_DOWNLOAD, word, url=word)
    elif _WANTED.search(word):
        sites.add(span, marks.BUILD_VARIABLE, word, name=word)
