"""Run in a process of its own, with torch and torch_npu importable: prints what the real dispatcher and import hold.

Arguments: a file with dotted names, one a line. Output: JSON.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import torch
import torch_npu

KINDS = {
    "kernel": "N",
    "math kernel": "C",
    "default backend kernel": "E",
    "backend fallback": "F",
}
LINE = re.compile(r"^(PrivateUse1|CPU): .*\[([a-z A-Z]+)\]$", re.MULTILINE)


def status(operator):
    kinds = dict(LINE.findall(torch._C._dispatch_dump_table(operator)))
    letter = KINDS.get(kinds.get("PrivateUse1", ""), ".")
    # The fallback is registered for everything; without a kernel on the CPU there is nothing to fall back to.
    if letter == "F" and kinds.get("CPU") not in {"kernel", "default backend kernel"}:
        return "X"
    return letter


def exists(name):
    """True or false; None where the module that should have it wants CANN or a package that is not installed."""
    parts = name.split(".")
    # Attributes first: torch_npu.npu.mstx is a class there, and a module of the same name is behind it.
    for cut in (1, *range(len(parts), 1, -1)):
        try:
            found = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != parts[0]:
                return None
            continue
        except ImportError:
            continue
        except (Exception, SystemExit):  # noqa: BLE001 - whatever a module does where CANN is not there
            return None
        if has_all(found, parts[cut:]):
            return True
    return False


def has_all(found, parts):
    for part in parts:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


names = Path(sys.argv[1]).read_text(encoding="utf-8").split()
operators = torch._C._dispatch_get_all_op_names()
lists = {
    key: sorted(torch._C._dispatch_get_registrations_for_dispatch_key(key))
    for key in ("AutocastPrivateUse1", "AutocastCUDA")
}
json.dump(
    {
        "torch": torch.__version__,
        "torch_npu": torch_npu.__version__,
        "operators": {name: status(name) for name in operators if name.startswith("aten::")},
        "custom": sorted(name for name in operators if name.startswith("npu::")),
        "autocast": lists,
        "names": {name: exists(name) for name in names},
        "surface": {module: sorted(dir(import_module(module))) for module in ("torch_npu", "torch_npu.npu")},
    },
    sys.stdout,
)
