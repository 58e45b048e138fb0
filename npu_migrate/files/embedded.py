"""Python inside other files: a look at its words, since nothing rewrites it there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import environment, marks
from npu_migrate.files.sites import TIE

if TYPE_CHECKING:
    from npu_migrate.files.sites import Sites

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\r\n]*)
    |(?P<string>(?<!\w)[rRbBuUfF]{0,2}(?:\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)
        |"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*(?:"|(?=[\r\n])|\\?\Z)|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*(?:'|(?=[\r\n])|\\?\Z)))
    |(?P<name>\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)""",
    re.VERBOSE | re.DOTALL,
)
_CODE = re.compile(r"(?:torch\.)(?:cuda|backends\.cud)[\w.]*|\.cuda\(")
_DEVICE = re.compile(r"\w*?[\"']{1,3}(?:cuda(?:[:\"'].*)?|(?:[\w:]+,)*(?:\w+:)?nccl)\s?[\"']{1,3}", re.DOTALL)
_LONE = re.compile(r"[A-Za-z_]\w*")
_PARTS = {"cuda", "cudnn", "is_cuda", "nccl", "is_nccl_available", "NCCL", "CUDA"}


def python_text(sites: Sites, span: tuple[int, int]) -> None:
    """Report the CUDA words of a stretch of Python, by tokens only."""
    for token in _TOKEN.finditer(sites.text, *span):
        if not TIE.search(token.group()) or sites.covered(*token.span()):
            continue
        if token.group("comment"):
            sites.stay(token.span(), marks.STAY_COMMENT)
        elif token.group("string"):
            _string(sites, token.span())
        else:
            _name(sites, token.span(), token.group())
    sites.stay(span, marks.STAY_NAME)


def _name(sites: Sites, span: tuple[int, int], name: str) -> None:
    if _PARTS.intersection(name.split(".")):
        sites.add(span, marks.CELL_NAME, name, name=name)
    else:
        sites.stay(span, marks.STAY_NAME)


def _string(sites: Sites, span: tuple[int, int]) -> None:
    text = sites.text[slice(*span)]
    inner = text.strip("rRbBuUfF").strip("\"'").strip()
    if _DEVICE.fullmatch(text):
        sites.add(span, marks.CELL_TEXT, inner, value=inner)
        return
    for code in _CODE.finditer(sites.text, *span):
        sites.add(code.span(), marks.CELL_NAME, code.group(), name=code.group())
    if _LONE.fullmatch(inner):
        environment.read(sites, span, inner)
    sites.stay(span, marks.STAY_TEXT if re.search(r"\s", inner) else marks.STAY_NAME)
