"""Builds the stand-ins for the CANN libraries that a torch_npu wheel needs, once, into the cache."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess  # the machine's compiler
from pathlib import Path

from npu_migrate.rehearse.words import words

TOOLS = ("gcc", "nm", "readelf")
_SOURCE = Path(__file__).with_name("runtime.c")
_LOADED = ("lib/libtorch_npu.so", "lib/libnpu_profiler.so", "lib/libtensorpipe.so")
_ENTRY = re.compile(r"(acl|Hccl|Msprof|rt[A-Z])\w*")
_COMPUTES = re.compile(
    r"aclop(Compile|Execute)|Hccl(?!GetCommName|GetRootInfo|CommInit|CommDestroy|SetConfig)|rtKernel"
)
_NOT_SUPPORTED = 500002
_OF_CANN = re.compile(r"lib(ascendcl|hccl|acl_\w+|ge_\w+|graph|atb|opapi\w*|runtime|profapi|msprof\w*)\.so")
_CENTRE = "libascendcl.so"
_OPENED = ("libopapi.so", "libmspti.so")  # by name, while running
FOLDERS = words("runtime/lib64 compiler/lib64 opp/built-in")


def missing_tools() -> list[str]:
    """The tools that this machine does not have."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def build(package: Path, cache: Path) -> Path:
    """The folder with the libraries and an empty toolkit for an unpacked torch_npu; built where it is not there."""
    source = _SOURCE.read_text(encoding="utf-8")
    loaded = [package / name for name in _LOADED] + sorted(package.glob("_C*.so"))
    loaded = [path for path in loaded if path.exists()]
    entries = sorted({name for path in loaded for name in _undefined(path)})
    libraries = sorted({_CENTRE, *_OPENED} | {name for path in loaded for name in _needed(path)})
    whole = source + "\n".join(_filler(name) for name in entries if not _defines(source, name)) + "\n"
    key = hashlib.sha256(("\n".join(libraries) + whole).encode()).hexdigest()[:16]
    final = cache / f"cann-{key}"
    if not final.is_dir():
        draft = cache / f"cann-{key}.part"
        shutil.rmtree(draft, ignore_errors=True)
        _compile(draft, whole, libraries)
        draft.replace(final)
    return final


def _defines(source: str, name: str) -> bool:
    return re.search(rf"\b{name}\(|SETTING\({name}\)", source) is not None


def _filler(name: str) -> str:
    """Plumbing succeeds; what would compute says that it cannot."""
    return f"long {name}(void) {{ return {_NOT_SUPPORTED if _COMPUTES.match(name) else 0}; }}"


def _compile(folder: Path, source: str, libraries: list[str]) -> None:
    folder.mkdir(parents=True)
    for name in FOLDERS:
        (folder / "toolkit" / name).mkdir(parents=True)
    (folder / "cann.c").write_text(source, encoding="utf-8")
    (folder / "empty.c").write_text("", encoding="utf-8")
    shared = ["gcc", "-shared", "-fPIC", "-w", "-O1"]
    _run(*shared, "-o", str(folder / _CENTRE), str(folder / "cann.c"), f"-Wl,-soname,{_CENTRE}")
    linked = ["-Wl,--no-as-needed", f"-L{folder}", "-lascendcl", "-Wl,-rpath,$ORIGIN"]
    for name in libraries:
        if name != _CENTRE:
            _run(*shared, "-o", str(folder / name), str(folder / "empty.c"), *linked, f"-Wl,-soname,{name}")


def _undefined(library: Path) -> list[str]:
    lines = _run("nm", "-D", "--undefined-only", str(library)).splitlines()
    names = (line.split()[-1].partition("@")[0] for line in lines if line.strip())
    return [name for name in names if _ENTRY.fullmatch(name)]


def _needed(library: Path) -> list[str]:
    named = re.findall(r"NEEDED.*\[(.*?)\]", _run("readelf", "-d", str(library)))
    return [name for name in named if _OF_CANN.fullmatch(name)]


def _run(*command: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  (fixed tools)
    return done.stdout
