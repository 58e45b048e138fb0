"""Shared objects that let torch_npu be imported on a machine without CANN.

Everything that the wheel's libraries need and nobody on the machine defines becomes an empty function in one library;
every library that they name and that is not there becomes an empty one beside it. Nothing can be computed with them:
they serve to read the dispatcher's tables and the Python names of a real import.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Looked up by name at run time, so that no symbol table asks for it.
_OPENED_LATER = ("libopapi.so",)
_OF_THE_SYSTEM = re.compile(r"(lib(stdc\+\+|m|gcc_s|pthread|c|dl|rt|util)\.so|ld-linux)")
_VERSIONED = ("GLIBC", "CXXABI", "GCC_", "OMP_", "GOMP_")
_SYSTEM = ("libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libdl.so.2")
_DATA = re.compile(r"_ZT[VISC]")
# Success, except where success would have to fill in an answer.
_FAILING = {"aclrtGetDeviceCount": 100000}


def missing_tools() -> list[str]:
    """What this needs and the machine has not."""
    return [tool for tool in ("gcc", "nm", "readelf") if shutil.which(tool) is None]


def build(into: Path, *packages: Path) -> list[str]:
    """Build the stubs for the libraries under these folders; the names of those that stand in for CANN."""
    libraries = [
        path
        for package in packages
        for path in sorted(package.rglob("*.so*"))
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"
    ]
    needed: set[str] = set()
    undefined: set[str] = set()
    defined: set[str] = set().union(*(_defined(_of_gcc(name)) for name in _SYSTEM))
    for path in libraries:
        needed.update(re.findall(r"NEEDED.*\[(.*?)\]", _run("readelf", "-d", str(path))))
        undefined.update(_undefined(str(path)))
        defined.update(_defined(str(path)))
    have = {path.name for path in libraries}
    lacking = sorted(name for name in needed if name not in have and not _OF_THE_SYSTEM.match(name))
    symbols = sorted(name for name in undefined - defined if not name.startswith(("Py", "_Py")))
    _compile(into, symbols, sorted({*lacking, *_OPENED_LATER}))
    return lacking


def _compile(into: Path, symbols: list[str], libraries: list[str]) -> None:
    into.mkdir(parents=True, exist_ok=True)
    lines = [
        f"char {name}[512];" if _DATA.match(name) else f"long {name}(void) {{ return {_FAILING.get(name, 0)}; }}"
        for name in symbols
    ]
    source, empty = into / "stubs.c", into / "empty.c"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    empty.write_text("", encoding="utf-8")
    shared = ["gcc", "-shared", "-fPIC", "-w", "-fno-builtin"]
    _run(*shared, "-o", str(into / "libstubs.so"), str(source), "-Wl,-soname,libstubs.so")
    linked = ["-Wl,--no-as-needed", f"-L{into}", "-lstubs", "-Wl,-rpath,$ORIGIN"]
    for name in libraries:
        _run(*shared, "-o", str(into / name), str(empty), *linked, f"-Wl,-soname,{name}")


def _undefined(library: str) -> set[str]:
    found = set()
    for line in _run("nm", "-D", "--undefined-only", library).splitlines():
        kind, _, name = line.strip().partition(" ")
        symbol, _, version = name.partition("@")
        if kind == "U" and not version.lstrip("@").startswith(_VERSIONED):
            found.add(symbol)
    return found


def _defined(library: str) -> set[str]:
    lines = _run("nm", "-D", "--defined-only", library).splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines if line.strip()}


def _of_gcc(name: str) -> str:
    return _run("gcc", f"-print-file-name={name}").strip()


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
