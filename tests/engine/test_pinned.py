"""What is said of pinned memory in a config file goes by the release and the setting."""

from __future__ import annotations

import pytest

from npu_migrate import packs
from npu_migrate.engine.run import migrate
from npu_migrate.engine.settings import Settings
from npu_migrate.target import load


@pytest.mark.parametrize(
    ("release", "setting", "key", "status"),
    [
        ("2.7.1", "auto", "pinned", "advice"),
        ("2.13.0", "auto", "by-itself", "kept"),
        ("1.11.0", "auto", "off", "manual"),
        ("2.7.1", "off", "off", "manual"),
        ("2.7.1", "keep", "stays", "kept"),
        ("2.13.0", "npu", "pinned", "advice"),
    ],
)
def test_the_release_and_the_setting_decide(tmp_path, release, setting, key, status):
    (tmp_path / "data.yaml").write_text("loader:\n  pin_memory: true\n", encoding="utf-8")
    (found,) = migrate([tmp_path], Settings(target=load(release), pin_memory=setting))
    assert [(one.text.key, one.status.value) for one in found.findings] == [(key, status)]
    assert all(packs.load().message(found.findings[0].text, lang, strict=True) for lang in ("en", "zh"))
