"""What a file is, told from its name and, where there is no suffix, from its first line."""

from __future__ import annotations

import re

PYTHON = "python"
DOCS = "docs"

_SUFFIXES = {
    suffix: kind
    for kind, suffixes in (
        (PYTHON, ".py .pyi .pyw"),
        ("notebook", ".ipynb"),
        ("yaml", ".yaml .yml"),
        ("json", ".json"),
        ("toml", ".toml"),
        ("ini", ".ini .cfg .conf .properties"),
        ("shell", ".sh .bash .zsh .ksh .slurm .sbatch .env .bat .cmd"),
        ("make", ".mk"),
        ("dockerfile", ".dockerfile"),
        ("cuda", ".cu .cuh"),
        ("cpp", ".cpp .cc .cxx .c .h .hpp .pyx .pxd"),
        ("cmake", ".cmake"),
        (DOCS, ".md .rst"),
    )
    for suffix in suffixes.split()
}
_NAMES = {
    "makefile": "make",
    "gnumakefile": "make",
    "cmakelists.txt": "cmake",
    "containerfile": "dockerfile",
    ".env": "shell",
}
_REQUIREMENTS = re.compile(r"(?:requirements.*\.(?:txt|in)|environment.*\.ya?ml)", re.DOTALL)
_DOCKERFILE = re.compile(r"dockerfile(?:[.\-_].*)?", re.DOTALL)
_SHEBANGS = (
    (re.compile(rb"#!.*?\bpython[\d.]*(?:\s|$)"), PYTHON),
    (re.compile(rb"#!.*?\b(?:ba|da|k|z)?sh(?:\s|$)"), "shell"),
)


def kind_of(name: str, folder: str = "") -> str | None:
    """Kind of a file by its name (and the name of the folder it lies in); None for everything else."""
    lower = name.lower()
    stem, dot, suffix = lower.rpartition(".")
    if _REQUIREMENTS.fullmatch(lower) or (suffix == "txt" and folder.lower() == "requirements"):
        return "requirements"
    if _DOCKERFILE.fullmatch(lower) and _SUFFIXES.get(dot + suffix) != PYTHON:
        return "dockerfile"
    return _NAMES.get(lower) or (_SUFFIXES.get(dot + suffix) if stem else None)


def kind_of_script(head: bytes) -> str | None:
    """Kind of a file without a suffix, by its shebang line."""
    if not head.startswith(b"#!"):
        return None
    line = head.split(b"\n", 1)[0]
    return next((kind for pattern, kind in _SHEBANGS if pattern.match(line)), None)
