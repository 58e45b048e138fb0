"""What a child process needs in order to find the simulated NPU: a folder on its path, and the settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from npu_migrate.rehearse.facts import Facts
from npu_migrate.rehearse.faithful import stubs, tier, wheel
from npu_migrate.rehearse.settings import VARIABLE, Settings

_CUSTOMIZE = """\
import sys

sys.path.append({tool!r})
from npu_migrate.rehearse import start

start.join({site!r})
"""
_METADATA = """\
Metadata-Version: 2.1
Name: torch-npu
Version: {version}
"""
_ENTRY_POINTS = """\
[torch.backends]
torch_npu = torch_npu:_autoload
"""


def prepare(folder: Path, settings: Settings, base: dict[str, str] | None = None) -> dict[str, str]:
    """Write the folder; returns the environment of the child."""
    site = folder / "site"
    site.mkdir(parents=True)
    tool = str(Path(__file__).resolve().parents[2])
    (site / "sitecustomize.py").write_text(_CUSTOMIZE.format(tool=tool, site=str(site)), encoding="utf-8")
    saved = folder / "settings.json"
    settings.save(saved)
    environment = dict(os.environ if base is None else base)
    added = [str(site)]
    if settings.tier == "portable":
        _write_metadata(site, Facts(settings.torch_npu))
    else:
        package = wheel.unpacked(settings.torch_npu)
        libraries = stubs.build(package / "torch_npu", wheel.cache())
        environment.update(tier.environment(libraries, settings.devices))
        added.append(str(package))
    environment[VARIABLE] = str(saved)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [*added, environment.get("PYTHONPATH", "")]))
    own = str(Path(sys.executable).parent)
    environment["PATH"] = os.pathsep.join([own, environment.get("PATH", os.defpath)])
    return environment


def _write_metadata(site: Path, facts: Facts) -> None:
    """What ``importlib.metadata`` and torch's own loading of backends look for."""
    folder = site / f"torch_npu-{facts.torch_npu}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(_METADATA.format(version=facts.torch_npu), encoding="utf-8")
    if facts.autoloads:
        (folder / "entry_points.txt").write_text(_ENTRY_POINTS, encoding="utf-8")
