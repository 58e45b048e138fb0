"""The derived tables against the real dispatcher: torch_npu imported over stub libraries, without CANN or an NPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections import Counter
from importlib import util
from pathlib import Path

import pytest

from npu_migrate import target
from npu_migrate.target import store
from npu_migrate.target.refresh import wheels
from npu_migrate.target.series import at

sys.path.insert(0, str(Path(__file__).parent))
import cann_stubs
from emitted import emitted

RELEASE = "2.13.0"
HERE = Path(__file__).parent

# A default kernel is one kind to the dispatcher, whatever it forwards to.
TO_THE_DISPATCHER = {"O": "N", "n": "E", "f": "E", "x": "E"}
# Registered by torch_npu's C++ without its list saying so: composites that have no kernel for nested tensors' key, and
# one whose key is that of sparse tensors.
EXCEPTIONS = {"_coalesce": ("N", "X")}
NESTED = ("C", "X")
# In torch's list, but never generated: the composites that they would be variants of have no out form.
NOT_GENERATED = {
    "_upsample_bicubic2d_aa.vec_out",
    "_upsample_bilinear2d_aa.vec_out",
    "_upsample_lanczos2d_aa.vec_out",
    "_upsample_nearest_exact1d.vec_out",
    "_upsample_nearest_exact2d.vec_out",
    "_upsample_nearest_exact3d.vec_out",
    "prelu.out",
    "scaled_dot_product_attention.out",
    "upsample_bicubic2d.vec_out",
    "upsample_linear1d.vec_out",
    "upsample_nearest1d.vec_out",
    "upsample_nearest3d.vec_out",
    "upsample_trilinear3d.vec_out",
}

pytestmark = pytest.mark.slow


def interpreter_with_torch(folder):
    """This Python if it has the right torch, else a fresh environment."""
    if util.find_spec("torch") is not None:
        asked = subprocess.run(
            [sys.executable, "-c", "import torch; print(torch.__version__)"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.stdout.strip().partition("+")[0] == RELEASE:
            return Path(sys.executable)
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", f"torch=={RELEASE}", "numpy", "pyyaml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no torch {RELEASE}: {done.stderr.strip().splitlines()[-1:]}")
    return python


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """What the dispatcher and the modules of a real import hold."""
    lacking = cann_stubs.missing_tools()
    if lacking or sys.platform != "linux":
        pytest.skip(f"needs Linux and {', '.join(lacking) or 'its tools'}")
    root = tmp_path_factory.mktemp("dispatcher")
    python = interpreter_with_torch(root / "venv")
    try:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        wheel = wheels.download("torch_npu", RELEASE, wheels.LINUX, root, (version,))
    except wheels.NoWheelError as error:
        pytest.skip(f"no wheel of torch_npu {RELEASE} for this Python: {error}")
    wheels.unpack(wheel, root / "npu", lambda _: True)
    wheel.unlink()
    asked = [str(python), "-c", "import torch, pathlib; print(pathlib.Path(torch.__file__).parent)"]
    torch = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    cann_stubs.build(root / "stubs", root / "npu", torch / "lib", torch.with_name("torch.libs"))
    return dump(python, root, torch / "lib")


def dump(python, root, torch_libraries):
    toolkit = root / "cann"
    for part in ("runtime", "compiler", "opp"):
        (toolkit / part).mkdir(parents=True)
    names = root / "names.txt"
    names.write_text("\n".join([*members(), *written_or_told(), *counterparts()]), encoding="utf-8")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": f"{root / 'stubs'}:{torch_libraries}",
        "PYTHONPATH": str(root / "npu"),
        "ASCEND_HOME_PATH": str(toolkit),
        "ASCEND_OPP_PATH": str(toolkit / "opp"),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }
    command = [str(python), str(HERE / "dump_dispatcher.py"), str(names)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def members():
    """Every name that the database claims for the release, members of classes included."""
    one = target.load(RELEASE)
    owners = store.table("names")["members"]
    owned = [
        f"{owner}.{name}"
        for owner, names in owners.items()
        for name, series in names.items()
        if one.has(owner) and at(series, one.column) != "."
    ]
    return [*one.names(), *owned]


def written_or_told():
    """What comes out of the rules' fixtures for the release, attributes of objects included."""
    written, said = emitted(RELEASE)
    return sorted({name for _, name in written | said})


def counterparts():
    """What names of torch.cuda become, where the database says that it exists."""
    one = target.load(RELEASE)
    became = [one.cuda_name(name) for name in store.table("cuda")["names"]]
    return [each.npu for each in became if each.exists] + [each.instead for each in became if each.instead]


def test_the_dispatcher_says_what_was_derived(real):
    derived = {
        name: TO_THE_DISPATCHER.get(letter, letter)
        for name, series in store.table("operators")["operators"].items()
        for letter in (at(series, target.load(RELEASE).column),)
        if letter != "."
    }
    found = {name.removeprefix("aten::"): letter for name, letter in real["operators"].items()}
    differing = {
        name: (letter, found.get(name))
        for name, letter in derived.items()
        if letter != found.get(name) and name not in NOT_GENERATED
    }
    nested = {name for name, pair in differing.items() if name.startswith("_nested_") and pair == NESTED}
    assert {name: pair for name, pair in differing.items() if name not in nested} == EXCEPTIONS
    assert len(nested) == 9
    assert not NOT_GENERATED & set(found)
    assert Counter(found[name] for name in derived if name in found)["N"] >= 1077


def test_every_name_of_the_database_exists_in_a_real_import(real):
    # None: the module wants files of CANN, or PyTorch's own test packages, before it can be imported.
    wrong = [name for name, there in real["names"].items() if there is False]
    assert wrong == []
    assert len(real["names"]) > 3000
    unknown = {name for name, there in real["names"].items() if there is None}
    assert {".".join(name.split(".")[:3]) for name in unknown} <= {
        "torch_npu.testing",
        "torch_npu.utils.collect_hccl_info",
    }


def test_no_public_name_is_missing_from_the_database(real):
    one = target.load(RELEASE)
    imported = {
        "List",
        "Optional",
        "Tuple",
        "Union",
        "cast",
        "contextlib",
        "importlib",
        "os",
        "re",
        "threading",
        "torch",
    }
    imported |= {"torch_npu", "traceback", "warnings"}
    for module, names in real["surface"].items():
        public = {name for name in names if not name.startswith("_")} - imported
        assert {name for name in public if not one.has(f"{module}.{name}")} <= COMPILED_ONLY


# Operators that the wheel's libraries register by themselves, outside of any list.
COMPILED_ONLY = {
    "print_npugraph_tensor",
    "save_npugraph_tensor",
    "set_op_timeout_ms",
    "super_kernel_scope_begin",
    "super_kernel_scope_end",
}


def test_custom_operators_are_those_of_the_dispatcher(real):
    listed = {f"npu::{name}" for name in store.table("custom")["operators"]}
    bare = {name.partition(".")[0].removeprefix("npu::") for name in set(real["custom"]) - listed}
    assert bare == COMPILED_ONLY


def test_autocast_lists_are_those_of_the_dispatcher(real):
    found = {
        name.removeprefix("aten::") for name in real["autocast"]["AutocastPrivateUse1"] if name.startswith("aten::")
    }
    assert found == set(store.table("autocast")["npu"])
    cuda = {name.removeprefix("aten::") for name in real["autocast"]["AutocastCUDA"] if name.startswith("aten::")}
    assert cuda - found == set(store.table("autocast")["cuda_only"][RELEASE])
