"""CUDA and C++ sources: one finding for a CUDA file, one for each group of names in other C++."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks
from npu_migrate.files.sites import TIE, clip
from npu_migrate.files.tables import kernels

if TYPE_CHECKING:
    from npu_migrate.files.sites import Mark, Sites

_TOKEN = re.compile(
    r"""(?P<comment>//[^\r\n]*|/\*.*?(?:\*/|\Z))
    |(?P<include>\#[ \t]*include[ \t]*[<"](?P<header>[^>"\r\n]+)[>"])
    |(?P<string>"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*(?:"|(?=[\r\n])|\\?\Z)|'(?:[^'\\\r\n]|\\.)')
    |(?P<launch><<<)
    |(?P<name>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(
    r"//[^\r\n]*|/\*.*?(?:\*/|\Z)|\"[^\"\\\r\n]*(?:\\.[^\"\\\r\n]*)*(?:\"|(?=[\r\n])|\\?\Z)", re.DOTALL
)
_KERNEL = re.compile(
    r"__global__\s+(?:(?:static|inline|__launch_bounds__\s*\([^()]*\))\s*)*void\s+"
    r"(?:__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*)?([A-Za-z_]\w*)"
)
_WANTED = re.compile(
    r"cuda|nccl|cudnn|cublas|curand|cusparse|cusolver|cufft|nvinfer|nvml|nvtx|nvtoolsext|__global__|__device__|^thrust|^cub/",
    re.IGNORECASE,
)
_LIBRARIES = "cudnn|nccl|cublas|curand|cusparse|cusolver|cufft|nvinfer|nvml|nvtx|nvtoolsext"
_HEADERS = (
    (
        re.compile(rf"(?i)(?:[\w.]+/)*(?:ATen/cudnn/.*|(?:{_LIBRARIES})(?:lt|mp|runtime|_v\d|_frontend)*\.h(?:pp)?$)"),
        marks.CPP_LIBRARY,
    ),
    (re.compile(r"ATen/(?:native/)?cuda/|c10/cuda/|torch/csrc/cuda/|THC/|torch/cuda"), marks.CPP_STREAM),
    (
        re.compile(
            r"cuda(?:_runtime|_runtime_api|_fp16|_fp8|_bf16|_profiler_api|_device_runtime_api)?\.h$|(?:thrust|cub|cuda)/"
        ),
        marks.CPP_RUNTIME,
    ),
    (TIE, marks.CPP_OWN),
)
_NAMES = (
    (re.compile(r"\w+_(?:H|HH|HPP|CUH)_*$"), None),
    (re.compile(r"__(?:global|device)__$"), marks.CPP_KERNEL),
    (re.compile(r"(?:\w+::)*(?:is_cuda|kCUDA|CUDA|cuda)$"), marks.CPP_DEVICE),
    (re.compile(r"torch::cuda::(?:\w*is_available|device_count|synchronize|manual_seed\w*)$"), marks.CPP_DEVICE),
    (
        re.compile(
            r"(?:nccl|cudnn|cublas|cusparse|cusolver|cufft|curand)[A-Z_]\w*$|(?:NCCL|CUDNN|CUBLAS|CUSPARSE|CUSOLVER|CURAND)_\w+$"
            r"|cudnn_frontend|nvinfer\d?|(?:at|torch|c10)::\w*(?:::\w+)*(?i:cudnn|cublas|nccl|cusparse)\w*$"
            r"|TORCH_CU(?:DA)?(?:BLAS|SPARSE|SOLVER)\w*$"
        ),
        marks.CPP_LIBRARY,
    ),
    (
        re.compile(r"(?:(?:at|c10|torch)::)?cuda::|(?:AT|C10|TORCH|THC)_?CUDA_\w+|(?:at|c10|torch)::\w*CUDA"),
        marks.CPP_STREAM,
    ),
    (re.compile(r"(?:get|set|Optional)?\w*CUDA(?:Guard|Stream|Event|CachingAllocator|Blas\w*)\w*$"), marks.CPP_STREAM),
    (
        re.compile(r"cuda[A-Z]\w*$|CUDA_[RC]_\d+\w*$|CUDA_SUCCESS$|CUDA_VERSION$|CUDART_\w+$|__CUDA\w*$"),
        marks.CPP_RUNTIME,
    ),
    (TIE, marks.CPP_OWN),
)
_DEVICE = re.compile(r'"cuda(?::\d*)?"')


def scan(sites: Sites, kind: str) -> None:
    """Read a CUDA or C++ source."""
    if kind == "cuda":
        _whole(sites)
    else:
        _groups(sites)


def _bare(text: str) -> str:
    """The code without comments and strings."""
    return _COMMENT.sub(" ", text)


def _kernels(text: str) -> list[str]:
    return list(dict.fromkeys(clip(found.group(1)) for found in _KERNEL.finditer(_bare(text))))


def _whole(sites: Sites) -> None:
    names = _kernels(sites.text)
    span = (0, len(sites.text))
    near = next((operator for pattern, operator in kernels() if any(map(pattern.search, names))), "")
    listed = ", ".join(names)
    if near:
        sites.add(span, marks.SOURCE_NEAR, names[0], names=listed, operator=near)
    elif names:
        sites.add(span, marks.SOURCE_KERNELS, names[0], names=listed)
    else:
        sites.add(span, marks.SOURCE_FILE)


def _groups(sites: Sites) -> None:
    groups: dict[tuple[Mark, str], list[tuple[int, int]]] = {}

    def take(mark: Mark, span: tuple[int, int]) -> None:
        groups.setdefault((mark, sites.comment(mark, span[0])), []).append(span)

    for token in _TOKEN.finditer(sites.text):
        if not token.group("launch") and not _WANTED.search(token.group()):
            continue
        if token.group("comment"):
            sites.stay(token.span(), marks.STAY_COMMENT)
        elif token.group("string"):
            if _DEVICE.fullmatch(token.group()):
                take(marks.CPP_DEVICE, token.span())
            else:
                sites.stay(token.span(), marks.STAY_TEXT)
        else:
            mark = _family(token)
            if mark:
                header = token.group("header")
                take(mark, token.span("header") if header else token.span())
    for (mark, _), spans in groups.items():
        _group(sites, mark, spans)


def _family(token: re.Match[str]) -> Mark | None:
    if token.group("launch"):
        return marks.CPP_KERNEL
    header = token.group("header")
    name = header or token.group()
    table = _HEADERS if header else _NAMES
    return next((mark for pattern, mark in table if (pattern.search if pattern is TIE else pattern.match)(name)), None)


def _group(sites: Sites, mark: Mark, spans: list[tuple[int, int]]) -> None:
    """One finding from the first site to the last that names each site by its line."""
    lines: dict[str, list[str]] = {}
    for start, end in spans:
        met = lines.setdefault(clip(sites.text[start:end]), [])
        line = str(sites.line(start))
        if line not in met[-1:]:
            met.append(line)
    listed = "; ".join(f"{name}: {', '.join(numbers)}" for name, numbers in lines.items())
    span = (spans[0][0], spans[-1][1])
    sites.add(span, mark, next(iter(lines)), names=listed, count=str(len(spans)))
