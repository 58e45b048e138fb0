"""On real packages: a pull request that adds the whole package gets suggestions that add up to ``--apply``."""

from __future__ import annotations

import pytest
import real_trees
from click.testing import CliRunner
from fake_forge import fenced
from taken import applied

from npu_migrate import packs
from npu_migrate.bot import audit, body, markdown
from npu_migrate.bot.suggest import suggestions, touched
from npu_migrate.bot.words import Words
from npu_migrate.cli.main import cli


class Tree:
    def __init__(self, root):
        self.root = root

    def lines(self, path):
        return (self.root / path).read_bytes().decode("utf-8").split("\n")

    def patch(self, path):
        lines = self.lines(path)
        return "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])


@pytest.mark.slow
@pytest.mark.parametrize("pin", real_trees.TREES)
def test_all_suggestions_together_are_the_migration(pin, request, tmp_path):
    tree = Tree(real_trees.tree(pin, request.config.cache))
    report, out = tmp_path / "r.json", tmp_path / "out"
    CliRunner().invoke(cli, [str(tree.root), "-q", "--report", str(report), "-o", str(out), "--safety", "numerics"])
    found = audit.read(report)
    files = {path: touched(path, tree.patch(path)) for path in found.changes}
    made = suggestions(found, files, packs.load())
    takes = []
    for one in made:
        text = body.remark(one, markdown.fence("\n".join(one.new), "suggestion"), Words("en"))
        takes.append((one.touched.path, one.first, one.last, fenced(text, "suggestion")))
    result = applied(tree, takes)
    whole = {path for path in found.changes if b"\r" not in (tree.root / path).read_bytes()}
    assert whole
    assert whole == set(result)
    assert [path for path in whole if result[path] != (out / path).read_bytes().decode("utf-8")] == []
