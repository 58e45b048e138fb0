from __future__ import annotations

import os
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from npu_migrate.engine.kinds import kind_of
from npu_migrate.engine.scan import Entry, Skip, candidates, root_of, scan

BAD_BYTE_NAME = os.fsdecode(b"caf\xe9.py")
GIT = ["git", "-c", "core.excludesFile=/dev/null", "-c", "init.defaultBranch=main"]


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def listed(paths, **options) -> list[str]:
    return [entry.path for entry in scan(paths, **options) if not entry.skipped]


def skipped(paths, **options) -> dict[str, str]:
    return {entry.path: entry.skipped.value for entry in scan(paths, **options) if entry.skipped}


def git(folder: Path, *arguments: str) -> bytes:
    return subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True).stdout


@contextmanager
def as_nobody():
    """Permissions mean nothing to root, so root steps down."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.py", "python"),
        ("a.pyi", "python"),
        ("A.PY", "python"),
        ("setup.py", "python"),
        ("dockerfile.py", "python"),
        ("n.ipynb", "notebook"),
        ("c.yml", "yaml"),
        ("environment.yml", "requirements"),
        ("environment-gpu.yaml", "requirements"),
        ("requirements.txt", "requirements"),
        ("requirements-dev.txt", "requirements"),
        ("notes.txt", None),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile-arm64", "dockerfile"),
        ("gpu.dockerfile", "dockerfile"),
        ("run.slurm", "shell"),
        ("Makefile", "make"),
        ("CMakeLists.txt", "cmake"),
        ("k.cu", "cuda"),
        ("k.cuh", "cuda"),
        ("k.hpp", "cpp"),
        ("setup.cfg", "ini"),
        ("README.md", "docs"),
        ("w.pt", None),
        (".py", None),
        ("LICENSE", None),
    ],
)
def test_kinds_by_name(name, kind):
    assert kind_of(name) == kind


def test_a_requirements_folder_makes_requirements():
    assert kind_of("runtime.txt", "requirements") == "requirements"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python2.7 -u\r\n", "python"),
        (b"#! /bin/bash -e\n", "shell"),
        (b"#!/usr/bin/env -S sh\n", "shell"),
        (b"#!/usr/bin/perl\n# not python\n", None),
        (b"python\n", None),
        (b"", None),
    ],
)
def test_kinds_by_shebang(tmp_path, head, kind):
    write(tmp_path, {"tool": head})
    assert [entry.kind for entry in scan(tmp_path)] == [kind]


def test_paths_are_sorted_as_whole_strings(tmp_path):
    names = ["a-b.py", "a/b.py", "a/b/c.py", "a.py", "a0.py", "Z.py", "é/x.py", BAD_BYTE_NAME]
    write(tmp_path, dict.fromkeys(names, ""))
    found = listed(tmp_path)
    assert found == sorted(names)


def test_an_entry_says_where_the_file_is(tmp_path):
    write(tmp_path, {"pkg/a.py": "x"})
    real = Path(os.path.realpath(tmp_path))
    assert list(scan(tmp_path)) == [Entry("pkg/a.py", real / "pkg/a.py", "python", None)]


def test_folders_that_hold_no_source_are_not_entered(tmp_path):
    folders = [".git", ".hg", "node_modules", "__pycache__", "x.egg-info", "sub/.git", "sub/node_modules"]
    write(tmp_path, {f"{folder}/a.py": "" for folder in folders})
    write(
        tmp_path, {"venv/pyvenv.cfg": "", "venv/lib/a.py": "", "conda/conda-meta/x": "", "conda/a.py": "", "ok.py": ""}
    )
    assert listed(tmp_path) == ["ok.py"]


def test_a_named_environment_is_entered(tmp_path):
    write(tmp_path, {"pyvenv.cfg": "", "a.py": ""})
    assert "a.py" in listed(tmp_path)


def test_links_are_never_followed(tmp_path):
    write(tmp_path, {"out/secret.py": "cuda", "tree/real.py": "cuda", "tree/pkg/b.py": ""})
    tree = tmp_path / "tree"
    (tree / "file_out.py").symlink_to("../out/secret.py")
    (tree / "folder_out").symlink_to(tmp_path / "out")
    (tree / "file_in.py").symlink_to("real.py")
    (tree / "pkg/loop").symlink_to("..")
    (tree / "broken.py").symlink_to("/nowhere/x.py")
    assert listed(tree) == ["pkg/b.py", "real.py"]
    assert skipped(tree) == {
        "file_out.py": "symlink-outside",
        "folder_out": "symlink-outside",
        "file_in.py": "symlink",
        "pkg/loop": "symlink",
        "broken.py": "symlink-outside",
    }
    assert [found.entry.path for found in candidates(scan(tree), [b"cuda"]) if found.data] == ["real.py"]


def test_a_file_swapped_for_a_link_after_the_scan_is_not_read(tmp_path):
    write(tmp_path, {"out.py": "cuda", "tree/a.py": "cuda"})
    entries = list(scan(tmp_path / "tree"))
    (tmp_path / "tree/a.py").unlink()
    (tmp_path / "tree/a.py").symlink_to(tmp_path / "out.py")
    assert [(found.entry.skipped, found.data) for found in candidates(entries, [b"cuda"])] == [(Skip.UNREADABLE, b"")]


def test_size_limit(tmp_path):
    write(tmp_path, {"big.py": "#" * 11, "fits.py": "#" * 10, "weights.pt": "#" * 99})
    assert skipped(tmp_path, max_bytes=10) == {"big.py": "too-large"}
    assert listed(tmp_path, max_bytes=10) == ["fits.py", "weights.pt"]


def test_pipes_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "a.py")
    assert skipped(tmp_path) == {"a.py": "special-file"}


def test_what_cannot_be_read_is_an_entry(tmp_path):
    tree = Path(os.path.realpath(tmp_path)) / "tree"
    write(tree, {"closed/a.py": "cuda", "a.py": "cuda", "tool": "#!/bin/sh"})
    above = [path for path in tmp_path.parents if path.name.startswith(("pytest-", "popen-"))]
    for path in (tmp_path, *above, tree):
        path.chmod(0o755)
    for name in ("closed", "a.py", "tool"):
        (tree / name).chmod(0)
    with as_nobody():
        found = {item.entry.path: item.entry.skipped for item in candidates(scan(tree), [b"cuda"])}
    assert found == {"closed": Skip.UNREADABLE, "a.py": Skip.UNREADABLE, "tool": Skip.UNREADABLE}
    assert all(reason.loses for reason in found.values())


def test_candidates_hold_a_keyword_inside_any_word(tmp_path):
    write(tmp_path, {"a.py": "is_cuda_ok", "b.py": "CUDA", "c.md": "cuda", "d.bin": "cuda", "e.yaml": "x: nccl"})
    found = list(candidates(scan(tmp_path), [b"cuda", b"torch.cuda", b"nccl"]))
    assert [(item.entry.path, item.data) for item in found] == [("a.py", b"is_cuda_ok"), ("e.yaml", b"x: nccl")]


def test_binary_and_utf16_files_with_a_keyword_are_named(tmp_path):
    write(
        tmp_path,
        {
            "bin.py": b"\0 cuda",
            "bin_without.py": b"\0",
            "req/requirements.txt": "torch+cuda".encode("utf-16"),
            "big.yaml": "cuda".encode("utf-16-be").join([b"\xfe\xff", b""]),
            "other.json": "{}".encode("utf-16"),
        },
    )
    found = [(item.entry.path, item.entry.skipped, item.data) for item in candidates(scan(tmp_path), [b"cuda"])]
    assert found == [
        ("big.yaml", Skip.UTF_16, b""),
        ("bin.py", Skip.BINARY, b""),
        ("req/requirements.txt", Skip.UTF_16, b""),
    ]


def test_one_file_or_several_paths(tmp_path):
    write(tmp_path, {"a/x.py": "", "a/sub/y.py": "", "b/z.py": "", "c.py": "", ".gitignore": "c.py\nsub\n"})
    assert root_of(tmp_path / "c.py") == tmp_path
    assert listed(tmp_path / "c.py") == ["c.py"]
    git(tmp_path, "init", "-q")
    both = [tmp_path / "b", tmp_path / "a", tmp_path / "a/x.py"]
    assert root_of(both) == tmp_path
    assert listed(both) == ["a/x.py", "b/z.py"]
    assert listed([tmp_path / "a", tmp_path / "a/sub"]) == ["sub/y.py", "x.py"]


def test_a_named_file_counts_from_the_project_around_it(tmp_path):
    write(tmp_path, {"repo/pkg/deep/x.py": "", "repo/pkg/pyproject.toml": "", "alone/y.py": ""})
    deep = tmp_path / "repo/pkg/deep"
    assert listed(deep / "x.py") == ["deep/x.py"]
    git(tmp_path / "repo", "init", "-q")
    assert root_of(deep / "x.py") == tmp_path / "repo"
    assert listed(deep / "x.py") == ["pkg/deep/x.py"]
    assert listed(deep) == ["x.py"]
    assert listed(tmp_path / "alone/y.py") == ["y.py"]


def test_a_named_link_to_a_folder_is_that_folder(tmp_path):
    write(tmp_path, {"real/pkg/a.py": "", "other/b.py": ""})
    (tmp_path / "other/link").symlink_to("../real")
    assert listed(tmp_path / "other/link") == ["pkg/a.py"]
    assert listed([tmp_path / "other/link", tmp_path / "other"]) == ["other/b.py", "real/pkg/a.py"]


def test_a_missing_path_is_the_callers_mistake(tmp_path):
    with pytest.raises(FileNotFoundError):
        scan(tmp_path / "nowhere")


def test_exclude_and_include(tmp_path):
    write(
        tmp_path,
        {".gitignore": "build/\ngen_*.py\n", "build/lib/a.py": "", "build/b.py": "", "gen_x.py": "", "k.py": ""},
    )
    assert listed(tmp_path) == [".gitignore", "k.py"]
    assert "gen_x.py" in listed(tmp_path, include=["gen_x.py"])
    assert listed(tmp_path, include=["build/lib/"], exclude=[".gitignore"]) == ["build/lib/a.py", "k.py"]
    assert listed(tmp_path, include=["a.py"], exclude=[".git*"]) == ["build/lib/a.py", "k.py"]
    assert listed(tmp_path, include=["build/"], exclude=["b.py", ".*"]) == ["build/lib/a.py", "k.py"]
    assert skipped(tmp_path, ignored=True) == {"build": "ignored", "gen_x.py": "ignored"}
    assert not Skip.IGNORED.loses


def test_ignore_files_of_the_checkout_around_the_root_count(tmp_path):
    write(tmp_path, {".gitignore": "gen.py\n/sub/top.py\nlogs\n", "sub/gen.py": "", "sub/top.py": "", "sub/a.py": ""})
    assert listed(tmp_path / "sub") == ["a.py", "gen.py", "top.py"]
    git(tmp_path, "init", "-q")
    assert listed(tmp_path / "sub") == ["a.py"]
    write(tmp_path, {"logs/gen.py": ""})
    assert listed(tmp_path / "logs") == ["gen.py"]


@pytest.mark.parametrize("version", ["2", "4"])
def test_a_tracked_file_is_never_ignored(tmp_path, version):
    write(tmp_path, {f"data/a{number}.yaml": "" for number in range(9)})
    write(tmp_path, {"data/deep/x.py": "", "data/deep/own.py": "", "é.py": "", ".gitignore": "data\n*.py\n"})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "data/a3.yaml", "data/a7.yaml", "data/deep/x.py", "é.py", ".gitignore")
    git(tmp_path, "update-index", "--index-version", version)
    assert listed(tmp_path) == [".gitignore", "data/a3.yaml", "data/a7.yaml", "data/deep/x.py", "é.py"]
    assert listed(tmp_path / "data/deep") == ["own.py", "x.py"]


def test_a_linked_work_tree_has_its_own_index(tmp_path):
    main, linked = tmp_path / "main", tmp_path / "linked"
    write(main, {"a.py": "", ".gitignore": "*.py\n"})
    git(main, "init", "-q")
    git(main, "add", "-f", "a.py", ".gitignore")
    git(main, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
    git(main, "worktree", "add", "-q", str(linked))
    write(main, {".git/info/exclude": "noise.yaml\n"})
    write(linked, {"noise.yaml": "", "b.py": ""})
    assert listed(linked) == [".git", ".gitignore", "a.py"]


def test_a_broken_index_or_git_file_is_no_trouble(tmp_path):
    write(
        tmp_path,
        {".git/index": b"DIRC\0\0\0\2\xff\xff\xff\xff" + b"x" * 80, ".gitignore": "a.py\n", "a.py": "", "b.py": ""},
    )
    write(
        tmp_path,
        {
            "sub/.git": b"gitdir: \xff\xfe/nowhere",
            "sub/c.py": "",
            "sub/.gitignore": b"\xff\n[z-a]\nd.py",
            "sub/d.py": "",
        },
    )
    assert [path for path in listed(tmp_path) if path.endswith(".py")] == ["b.py", "sub/c.py"]


NAMES = ["a", "b", "ab.py", "c.txt", "a b", "[x]", "!a", "#a"]
PARTS = st.sampled_from(
    [*NAMES, "*", "**", "a*", "*.py", "?b.py", "[ab]", "[!a]", "\\#a", "\\!a", "*/", "**/a", "a/**", "a\\ b"]
)
PATTERNS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(PARTS, min_size=1, max_size=3).map("/".join),
    st.sampled_from(["", "", "/", " ", "\r"]),
)
TREES = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join), min_size=1, max_size=8)
IGNORE_FILES = st.dictionaries(
    st.sampled_from(["", "a/", "b/", "a/b/", "a/a/"]), st.lists(PATTERNS, max_size=4), min_size=1, max_size=3
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkout")
    git(folder, "init", "-q")
    return folder


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TREES, IGNORE_FILES, st.lists(PATTERNS, max_size=2))
@example(["a/ab.py", "b/c.txt"], {"": ["*", "!*/", "!*.py"]}, [])
@example(["a/b/c.txt", "a/c.txt"], {"": ["a/*", "!a/b"], "a/b/": ["!c.txt"]}, ["c.txt"])
def test_git_would_list_the_same_files(checkout, tree, ignore_files, exclude):
    git(checkout, "clean", "-qfdx")
    for name in tree:
        with suppress(OSError):  # the same name as a file and as a folder
            write(checkout, {name: "x"})
    for folder, patterns in ignore_files.items():
        if (checkout / folder).is_dir():
            write(checkout, {f"{folder}.gitignore": "\n".join(patterns)})
    write(checkout, {".git/info/exclude": "\n".join(exclude)})
    theirs = git(checkout, "ls-files", "-z", "--others", "--exclude-standard").decode().split("\0")[:-1]
    assert listed(checkout) == sorted(theirs)


def test_ten_thousand_files_take_little_time(tmp_path):
    patterns = "\n".join(f"*.x{number}\n/out{number}/" for number in range(60))
    write(tmp_path, {".gitignore": patterns})
    for folder in range(100):
        path = tmp_path / f"pkg{folder}"
        path.mkdir()
        for number in range(100):
            (path / f"mod_{number}.py").write_bytes(b"import torch\n" * 20)
    start = time.process_time()
    found = sum(1 for _ in candidates(scan(tmp_path), [b"cuda", b"nccl"]))
    assert found == 0
    assert time.process_time() - start < 2
