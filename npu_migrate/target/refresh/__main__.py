"""``python -m npu_migrate.target.refresh 2.13.0``: fetch the wheels of one torch_npu release and rebuild its facts."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_migrate.target import store, versions
from npu_migrate.target.refresh import tables, wheels
from npu_migrate.target.refresh.facts import derive

if TYPE_CHECKING:
    from collections.abc import Sequence

_GIT = re.compile(r"git_version = '(\w+)'")


def main(arguments: Sequence[str] | None = None) -> int:
    """Refresh every release that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m npu_migrate.target.refresh", description=__doc__)
    parser.add_argument("release", nargs="+", help="full versions of torch_npu, such as 2.7.1.post11")
    parser.add_argument("--into", type=Path, default=store.folder(), help="the folder of the tables")
    parser.add_argument("--wheels", type=Path, help="wheels that are already here")
    chosen = parser.parse_args(arguments)
    try:
        for release in chosen.release:
            refresh(release, chosen.into, chosen.wheels)
    except wheels.NoWheelError as error:
        parser.exit(2, f"{error}\n")
    return 0


def refresh(release: str, into: Path, local: Path | None = None) -> None:
    """Rebuild one release. Wheels are fetched one at a time and go as soon as they are read."""
    torch = versions.base(release)
    with tempfile.TemporaryDirectory(prefix="npu-migrate-") as scratch:
        npu_root, torch_root = Path(scratch, "torch_npu"), Path(scratch, "torch")
        _bring("torch_npu", release, npu_root, local)
        _bring("torch", torch, torch_root, local)
        _say(f"{release}: deriving")
        facts = derive(npu_root, torch_root, tables.read(into, "environment").get("documented", ()))
        row = _row(release, torch, npu_root, tables.read(into, "matrix"))
    tables.lay_facts(into, release, row, facts)
    _say(f"{release}: {len(facts.operators)} operators, {len(facts.custom)} of its own")


def _bring(name: str, version: str, into: Path, local: Path | None) -> None:
    wanted, platforms = {
        "torch_npu": (wheels.torch_npu_member, wheels.LINUX),
        "torch": (wheels.torch_member, wheels.MACOS),
    }[name]
    here = sorted(local.glob(f"{name}-{version}-*.whl")) if local else []
    if here:
        wheels.unpack(here[0], into, wanted)
        return
    _say(f"{name} {version}: fetching")
    with tempfile.TemporaryDirectory(prefix="npu-migrate-") as scratch:
        wheels.unpack(wheels.download(name, version, platforms, Path(scratch)), into, wanted)


def _row(release: str, torch: str, npu: Path, matrix: dict[str, Any]) -> dict[str, Any]:
    """What ``releases.json`` says of a release: CANN where Huawei's table names it, Pythons by torch version."""
    version = npu.joinpath("torch_npu", "version.py").read_text(encoding="utf-8")
    listed = matrix.get("rows", {}).get(release, {})
    git = _GIT.search(version)
    return {
        "torch": torch,
        "cann": listed.get("cann", ""),
        "listed": bool(listed),
        "python": _pythons(matrix.get("python", {}), torch),
        "source": f"wheel {release}, git {git[1]}" if git else f"wheel {release}",
    }


def _pythons(listed: dict[str, list[str]], torch: str) -> list[str]:
    """The Pythons of a torch version; of its minor version where the matrix leaves the patch release out."""
    minor = [name for name in listed if name.split(".")[:2] == torch.split(".")[:2]]
    return listed.get(torch) or (listed[minor[-1]] if minor else [])


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
