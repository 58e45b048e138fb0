"""Names of container images."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks

if TYPE_CHECKING:
    from npu_migrate.files.sites import Sites

_STRONG = re.compile(
    r"nvcr\.io/|(?:^|/)nvidia/[\w-]+|(?:^|/)pytorch/pytorch(?:[:@]|$)|[\w./-]+:\S*?(?:cuda-?[\d$<]|\bcu1\d\d\b)",
    re.IGNORECASE,
)
_WEAK = re.compile(r"(?<![A-Za-z])(?:cuda|cudnn|nvidia)|[-_:]gpu\b|[-_:]cu1\d\d\b|tritonserver", re.IGNORECASE)
_LONGEST = 300
_NO_IMAGE = re.compile(r"\s|://|^\$\{?\w+\}?$|^cuda:?\d*$|\.(?:bmp|gif|jpe?g|png|svg|webp)$", re.IGNORECASE)


def image(sites: Sites, span: tuple[int, int], value: str, *, sure: bool = True) -> bool:
    """Report an image that brings CUDA.

    Args:
        sites: Where it is reported.
        span: Where the name stands.
        value: The name without quotes.
        sure: Whether the place holds nothing but images (``FROM``, ``image:``); elsewhere only telling names count.
    """
    if (
        len(value) > _LONGEST
        or _NO_IMAGE.search(value)
        or not (_STRONG.search(value) or (sure and _WEAK.search(value)))
    ):
        return False
    sites.add(span, marks.IMAGE, value, image=value)
    return True
