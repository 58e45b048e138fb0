"""``npu-migrate rules``: what a rule author does, in order."""

from __future__ import annotations

import pytest
from cli_samples import PACK

from npu_migrate import packs
from npu_migrate.cli.rules.readme import index


def test_list_is_the_default(run):
    bare, listed = run("rules", "--rules", PACK), run("rules", "list", "--rules", PACK)
    assert bare.exit_code == listed.exit_code == 0
    assert bare.output == listed.output
    assert "TST101" in bare.output
    assert "Calls that move to the NPU" in bare.output
    assert "移到 NPU 的调用" in run("rules", "--rules", PACK, "--lang", "zh").output
    assert "移到 NPU 的调用" in run("rules", "--lang", "zh", "list", "--rules", PACK).output


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_show(run, lang, file_regression):
    result = run("rules", "show", "left-alone", "--rules", PACK, "--lang", lang)
    assert result.exit_code == 0
    text = "\n".join(line.rstrip() for line in result.output.splitlines()) + "\n"
    file_regression.check(text, basename=f"show-{lang}", extension=".txt")
    assert result.output == run("rules", "show", "tst102", "--rules", PACK, "--lang", lang).output


def test_a_new_rule_fails_its_test_until_it_is_written(run, tmp_path):
    pack = tmp_path / "pack"
    created = run("rules", "new", "acme101", "moved-call-again", "--rules", pack)
    assert created.exit_code == 0
    assert f"npu-migrate rules test ACME101 --rules {pack}" in created.output

    failing = run("rules", "test", "ACME101", "--rules", pack)
    assert failing.exit_code == 1
    assert "torch.npu.example()" in failing.output

    codemod = pack / "acme101_moved_call_again" / "codemod.py"
    code = codemod.read_text()
    edit = (
        '        self.need_import("torch_npu", original)\n'
        '        new = updated.with_changes(func=self.spelled_out(updated.func, "torch.cuda.example", '
        '"torch.npu.example", "torch"))\n'
        '        return self.rewrite(original, updated, new, "renamed", old="a", new="b")\n'
    )
    head, _, _ = code.partition("        # The edit is yours")
    codemod.write_text(head + edit)
    # A real run is a process of its own; here the first version is still loaded.
    packs.sys.modules.pop(packs.load_codemod(packs.load([pack]).find("ACME101")).__module__)
    passing = run("rules", "test", "ACME101", "--rules", pack)
    assert passing.exit_code == 0, passing.output


def test_new_in_a_checkout_goes_to_its_family(run, tmp_path, monkeypatch):
    (tmp_path / "fixtures").mkdir()
    monkeypatch.setattr(packs, "_HERE", tmp_path / "npu_migrate")
    monkeypatch.setattr(packs, "load", lambda _extra: packs.Registry([]))
    result = run("rules", "new", "NPU498", "some-name")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "rules" / "data" / "npu498_some_name" / "codemod.py").is_file()
    assert (tmp_path / "fixtures" / "npu498_some_name" / "basic.in.py").is_file()


def test_new_outside_a_checkout_asks_where(run, tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "_HERE", tmp_path / "npu_migrate")
    monkeypatch.setattr(packs, "load", lambda _extra: packs.Registry([]))
    result = run("rules", "new", "NPU498", "some-name")
    assert result.exit_code == 2
    assert "--rules DIR" in result.stderr


@pytest.mark.parametrize("taken", [("TST101", "fresh-name"), ("TST998", "moved-call")])
def test_new_refuses_what_is_taken(run, taken):
    result = run("rules", "new", *taken, "--rules", PACK)
    assert result.exit_code == 2
    assert "tst101_moved" in result.stderr


def test_a_rule_with_code_but_without_fixtures_fails(run, tmp_path):
    run("rules", "new", "ACME102", "bare", "--rules", tmp_path)
    for path in (tmp_path / "acme102_bare" / "fixtures").iterdir():
        path.unlink()
    result = run("rules", "test", "ACME102", "--rules", tmp_path)
    assert result.exit_code == 1
    assert "has no fixtures" in result.output


def test_the_index_is_current(run):
    written = packs.builtin() / "README.md"
    if not written.exists():
        pytest.skip("no index yet")
    assert run("rules", "readme").stdout == written.read_text(encoding="utf-8")


def test_the_index_names_every_rule_in_both_languages():
    registry = packs.Registry(map(packs.read, packs.rule_files(PACK)))
    text = index(registry)
    for rule in registry.all():
        assert f"| {rule.code} | {rule.name} |" in text
        assert rule.title["zh"] in text
