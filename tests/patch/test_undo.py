from __future__ import annotations

import json

import pytest

from npu_migrate.patch.apply import apply
from npu_migrate.patch.journal import interrupted, recover
from npu_migrate.patch.model import Change, Code, PatchError
from npu_migrate.patch.undo import undo


def edit(root, name, new):
    return Change(name, (root / name).read_bytes(), new)


def refused(function, *arguments, **options):
    with pytest.raises(PatchError) as error:
        function(*arguments, **options)
    return error.value


def test_runs_are_undone_one_by_one_down_to_the_first_byte(tree, snapshot):
    states = [snapshot(tree)]
    for number in range(3):
        apply(tree, [edit(tree, "train.py", b"run %d" % number), edit(tree, "run.sh", b"\xff" * number)])
        states.append({name: entry for name, entry in snapshot(tree).items() if not name.startswith(".npu")})
    for state in reversed(states[:-1]):
        assert undo(tree) == (("run.sh", "train.py"), False)
        left = {name: entry for name, entry in snapshot(tree).items() if not name.startswith(".npu")}
        assert left == state
    assert snapshot(tree) == states[0]
    assert refused(undo, tree).code is Code.NOTHING_TO_UNDO


def test_a_mode_changed_since_is_restored_too(tree):
    apply(tree, [edit(tree, "run.sh", b"npu")])
    (tree / "run.sh").chmod(0o600)
    undo(tree)
    assert (tree / "run.sh").stat().st_mode & 0o777 == 0o755


def test_a_file_edited_since_is_named_and_nothing_done(tree, snapshot):
    apply(tree, [edit(tree, "train.py", b"npu"), edit(tree, "run.sh", b"npu"), edit(tree, "pkg/other.py", b"npu")])
    (tree / "train.py").write_bytes(b"later work")
    (tree / "pkg/other.py").unlink()
    before = snapshot(tree)
    error = refused(undo, tree)
    assert (error.code, error.path, error.others) == (Code.CHANGED_SINCE, "pkg/other.py", ("train.py",))
    assert snapshot(tree) == before


def test_force_drops_later_edits_even_removed_folders(tree, snapshot):
    first = snapshot(tree)
    apply(tree, [edit(tree, "train.py", b"npu"), edit(tree, "pkg/other.py", b"npu")])
    (tree / "train.py").unlink()
    (tree / "train.py").symlink_to("run.sh")
    (tree / "pkg").rename(tree / "moved")
    undo(tree, force=True)
    assert (tree / "pkg/other.py").read_bytes() == b"nothing\n"
    assert (tree / "run.sh").read_bytes() == first["run.sh"][1]
    assert not (tree / "train.py").is_symlink()
    assert (tree / "train.py").read_bytes() == b"torch.cuda\n"


def test_a_file_put_back_by_hand_is_no_trouble(tree, snapshot):
    first = snapshot(tree)
    apply(tree, [edit(tree, "train.py", b"npu"), edit(tree, "run.sh", b"npu")])
    (tree / "train.py").write_bytes(b"torch.cuda\n")
    assert undo(tree).paths == ("run.sh",)
    assert snapshot(tree) == first


def test_the_record_lies_in_the_git_directory(tree, git):
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "x")
    apply(tree, [edit(tree, "train.py", b"npu")])
    assert (tree / ".git/npu-migrate/runs/1/record.json").exists()
    assert not (tree / ".npu-migrate").exists()
    assert git(tree, "status", "--porcelain") == b" M train.py\n"
    undo(tree)
    assert git(tree, "status", "--porcelain") == b""
    assert not (tree / ".git/npu-migrate").exists()


def test_a_linked_work_tree_has_its_own_record(tree, git):
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "x")
    linked = tree.parent / "linked"
    git(tree, "worktree", "add", "-q", str(linked))
    apply(linked, [edit(linked, "train.py", b"npu")])
    assert (tree / ".git/worktrees/linked/npu-migrate/runs/1").exists()
    assert refused(undo, tree).code is Code.NOTHING_TO_UNDO
    undo(linked)
    assert (linked / "train.py").read_bytes() == b"torch.cuda\n"


def test_a_tree_that_became_a_checkout_can_still_be_undone(tree, git):
    apply(tree, [edit(tree, "train.py", b"npu")])
    git(tree, "init", "-q")
    assert git(tree, "status", "--porcelain", "--ignored", ".npu-migrate") == b"!! .npu-migrate/\n"
    undo(tree)
    assert (tree / "train.py").read_bytes() == b"torch.cuda\n"


def test_a_tree_that_was_moved_can_be_undone(tree):
    apply(tree, [edit(tree, "train.py", b"npu")])
    moved = tree.rename(tree.parent / "moved")
    undo(moved)
    assert (moved / "train.py").read_bytes() == b"torch.cuda\n"


def test_folders_of_one_checkout_have_their_own_last_run(tree, git):
    git(tree, "init", "-q")
    (tree / "sub").mkdir()
    (tree / "sub/a.py").write_bytes(b"cuda")
    apply(tree / "sub", [edit(tree / "sub", "a.py", b"npu")])
    apply(tree / "pkg", [edit(tree / "pkg", "other.py", b"npu")])
    assert undo(tree / "sub").paths == ("sub/a.py",)
    assert refused(undo, tree / "sub").code is Code.NOTHING_TO_UNDO
    assert undo(tree).paths == ("pkg/other.py",)
    apply(tree, [edit(tree, "sub/a.py", b"npu")])
    error = refused(undo, tree / "sub")
    assert (error.code, error.path) == (Code.WIDER_RUN, str(tree))


@pytest.mark.parametrize(
    "journal",
    [
        b"not json",
        b"[]",
        b'{"run": "../../x", "step": "replace", "force": true}',
        b'{"run": 1}',
    ],
)
def test_a_damaged_journal_is_refused(tree, snapshot, journal):
    apply(tree, [edit(tree, "train.py", b"npu")])
    (tree / ".npu-migrate/journal.json").write_bytes(journal)
    before = snapshot(tree)
    for function in (undo, recover):
        assert refused(function, tree).code is Code.STATE_UNUSABLE
    assert snapshot(tree) == before


@pytest.mark.parametrize("path", ["../victim.py", "/{root}/../victim.py", "link/victim.py"])
def test_a_forged_record_cannot_write_outside(tree, path):
    victim = tree.parent / "victim.py"
    victim.write_bytes(b"mine")
    (tree / "link").symlink_to("..")
    apply(tree, [edit(tree, "train.py", b"npu")])
    record = tree / ".npu-migrate/runs/1/record.json"
    found = json.loads(record.read_bytes())
    found["files"][0]["path"] = path.format(root=tree)
    record.write_text(json.dumps(found))
    assert refused(undo, tree).code is Code.CHANGED_SINCE
    assert refused(undo, tree, force=True).code in {Code.BAD_PATH, Code.SYMLINK}
    assert victim.read_bytes() == b"mine"


def test_an_edit_after_an_interrupted_run_is_not_lost(tree, snapshot):
    """The journal of a run that broke off while it replaced files, put there by hand."""
    first = snapshot(tree)
    apply(tree, [edit(tree, "train.py", b"npu"), edit(tree, "run.sh", b"npu")])
    (tree / ".npu-migrate/journal.json").write_text('{"run": 1, "step": "replace", "force": false}')
    (tree / "train.py").write_bytes(b"later work")
    assert interrupted(tree)
    changes = [edit(tree, "pkg/other.py", b"npu")]
    for error in (refused(recover, tree), refused(undo, tree), refused(apply, tree, changes, force=True)):
        assert (error.code, error.path, error.others) == (Code.INTERRUPTED, "train.py", ())
    assert (tree / "run.sh").read_bytes() == b"npu"
    assert undo(tree, force=True) == (("run.sh", "train.py"), True)
    assert not interrupted(tree)
    assert snapshot(tree) == first


def test_no_temporary_file_stays_behind(tree, snapshot):
    """As after a kill in the middle of a recovery, when the user then put the file back by hand."""
    first = snapshot(tree)
    apply(tree, [edit(tree, "train.py", b"npu")])
    (tree / ".npu-migrate/journal.json").write_text('{"run": 1, "step": "replace", "force": false}')
    (tree / ".npu-migrate-1-0.old").write_bytes(b"torch.c")
    (tree / "train.py").write_bytes(b"torch.cuda\n")
    assert recover(tree) == ()
    assert snapshot(tree) == first
