"""Packages that a file asks for: pip requirements and conda specs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks
from npu_migrate.files.sites import Mark
from npu_migrate.files.tables import package

if TYPE_CHECKING:
    from npu_migrate.files.sites import Sites

_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]\s]*\])?\s*((?:===?|[<>!~]=?|@|\(|;).*)?$", re.DOTALL)
_CONDA = re.compile(r"(?:[\w./-]+::)?([A-Za-z0-9][\w.-]*)\s*([=<>!~ ].*)?$", re.DOTALL)
_CUDA_BUILD = re.compile(r"(?:\+|%2B)[\w.]*?cu\d{2,3}\b|[/_.-]cu\d{2,3}\b", re.IGNORECASE)
_INDEX = re.compile(r"/cu\d{2,3}\b|pypi\.(?:ngc\.)?nvidia\.com", re.IGNORECASE)
_URL = re.compile(r"(?:git\+)?(?:https?|ssh|file)://|git@")
_EGG = re.compile(r"#egg=([\w.-]+)")
_RELEASE = re.compile(r"(?:={2,3}\s*v?|-)(\d+(?:\.\d+)*)")
_CONDA_CUDA = re.compile(r"cudatoolkit|cuda|cudnn|nccl|pytorch-cuda|cuda-[\w-]+|pytorch-gpu|lib(?:cu|nv)[\w-]+")
_TORCH_NAMES = {"torch", "pytorch"}
_COMPANIONS = {"torchvision", "torchaudio", "torchtext", "torchdata"}
_LONGEST = 1000
_SEPARATORS = re.compile(r"[-_.]+")


class Pins:
    """The packages of one text. Files that declare dependencies ``finish``: then torch is spoken of once."""

    def __init__(self, sites: Sites) -> None:
        """Start without any package."""
        self._sites = sites
        self._torch: tuple[tuple[int, int], str] | None = None
        self._settled = False

    def requirement(self, start: int, end: int) -> None:
        """Report one pip requirement: a name with its version, a URL, or a path."""
        raw = self._sites.text[start : min(end, start + _LONGEST)].strip()
        if _URL.match(raw):
            name, rest = self._name_of_url(raw), raw
        else:
            found = _REQUIREMENT.match(raw)
            if not found:
                return
            name, rest = found.group(1), found.group(2) or ""
        self._judge((start, end), name, rest)

    def pinned(self, span: tuple[int, int], name: str, version: str) -> None:
        """Report a package whose name is a key and whose version is its value."""
        self._judge(span, name, version if version[:1] in {"=", "<", ">", "~", "^", "*"} else f"=={version}")

    @staticmethod
    def _name_of_url(url: str) -> str:
        egg = _EGG.search(url)
        if egg:
            return egg.group(1)
        tail = re.split(r"[?#@]", url.rpartition("/")[2])[0]
        return tail.split("-")[0] if tail.endswith((".whl", ".tar.gz")) else tail.replace(".git", "")

    def _judge(self, span: tuple[int, int], name: str, rest: str) -> None:
        plain = _SEPARATORS.sub("-", name).lower()
        release = _RELEASE.search(rest)
        version = release.group(1) if release else ""
        known = package(plain)
        if plain == "torch-npu":
            self._settled = True
        elif known:
            mark = Mark(marks.PACKAGE_RULE, known.message, known.status)
            self._sites.add(span, mark, plain, package=name)
        elif _CUDA_BUILD.search(rest):
            mark = marks.WHEEL if plain in _TORCH_NAMES and version else marks.WHEEL_LOOSE
            self._settled = self._settled or plain in _TORCH_NAMES
            self._sites.add(span, mark, plain, package=name, version=version or rest.strip())
        elif plain in _TORCH_NAMES and self._torch is None:
            self._torch = (span, version)

    def index(self, start: int, end: int) -> None:
        """Report the address of a package index that serves CUDA builds."""
        url = self._sites.text[start:end].strip("\"'")
        if _INDEX.search(url):
            self._sites.add((start, end), marks.WHEEL_INDEX, url, url=url)

    def conda(self, start: int, end: int) -> None:
        """Report one conda spec such as ``nvidia::cudatoolkit=11.3``."""
        raw = self._sites.text[start : min(end, start + _LONGEST)].strip().strip("\"'")
        found = _CONDA.match(raw)
        if not found:
            return
        name, rest = found.group(1).lower(), found.group(2) or ""
        if _CONDA_CUDA.fullmatch(name) or (name in _TORCH_NAMES and "cuda" in rest):
            self._settled = self._settled or name in _TORCH_NAMES
            self._sites.add((start, end), marks.WHEEL_CONDA, name, package=raw)
        else:
            self._judge((start, end), name, "=" + rest if rest.startswith("=") else rest)

    def channel(self, start: int, end: int) -> None:
        """Report NVIDIA's conda channel."""
        name = self._sites.text[start:end].strip().strip("\"'").rstrip("/").rpartition("/")[2]
        if name.lower() == "nvidia":
            self._sites.add((start, end), marks.WHEEL_CHANNEL, name)

    def finish(self) -> None:
        """Say once what torch needs beside it, unless the file has torch-npu or a CUDA build of torch."""
        if self._torch and not self._settled:
            span, version = self._torch
            mark = marks.TORCH_PINNED if version else marks.TORCH
            self._sites.add(span, mark, "torch", **({"version": version} if version else {}))
