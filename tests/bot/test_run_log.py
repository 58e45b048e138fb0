"""The runs in docs/bot-run.md are what the bot does today, request by request."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_gitee import Gitee
from fake_github import GitHub
from fake_gitlab import GitLab

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"en": DOCS / "bot-run.md", "zh": DOCS / "zh" / "bot-run.md"}


def life(forge, project, bot, lang):
    """A first run, a second one, and one after somebody has asked something and then mended ``net.py``."""

    def run():
        start = len(forge.requests)
        done = bot(forge, "--lang", lang)
        return log(forge, start, lang) + done.output + "```\n"

    told = {
        "first": run(),
        "summary": quoted(forge.comments[0]),
        "suggestion": quoted(remark(forge, "tools/run.py", 3)),
    }
    told["second"] = run()
    answered = remark(forge, "net.py", 11)
    forge.reply(answered)
    project.push({"net.py": (project.root / "net.py").read_text().replace("cuda", "npu")})
    return {**told, "mended": run(), "answered": quoted(answered), "summary-mended": quoted(forge.comments[0])}


def remark(forge, path, line):
    here = {"gitlab": lambda one: (one["position"]["new_path"], one["position"]["new_line"])}
    place = here.get(forge.name, lambda one: (one["path"], one["line"]))
    return next(one for one in forge.remarks if place(one) == (path, line))


def log(forge, start, lang):
    language = "" if lang == "en" else f" --lang {lang}"
    lines = [f"```\n$ npu-migrate comment . --provider {forge.name} --repo {forge.repository} --pr 7{language}\n"]
    for asked, status in zip(forge.requests[start:], forge.statuses[start:]):
        query = "&".join(f"{key}={value}" for key, value in asked.query.items() if key != "access_token")
        lines.append(f"{asked.method:<6} {asked.path}{query and '?'}{query} -> {status}\n")
    return "".join(lines)


def quoted(comment):
    """As the pull request shows it: the marks of the bot are comments that nobody sees."""
    lines = [line for line in comment["body"].split("\n") if not line.startswith("<!--")]
    return "".join(f"> {line}".rstrip() + "\n" for line in "\n".join(lines).strip().split("\n"))


def check(forge, told, lang, request):
    """Each block of the page that is named in a comment above it; ``--force-regen`` puts it in anew."""
    page = PAGES[lang].read_text(encoding="utf-8")
    named = re.compile(rf"(<!-- {forge.name}:([\w-]+) -->\n\n)(.*?)(?=\n\n(?![>`])|\Z)", re.DOTALL)
    made = named.sub(lambda found: found[1] + told[found[2]].rstrip("\n"), page)
    assert {"first", "second", "mended", "answered"} <= {found[2] for found in named.finditer(page)}
    if request.config.getoption("force_regen"):
        PAGES[lang].write_text(made, encoding="utf-8")
    assert page == made, "pytest tests/bot/test_run_log.py --force-regen writes it anew"


@pytest.mark.parametrize("forge", [GitHub, GitLab, Gitee], ids=["github", "gitlab", "gitee"])
@pytest.mark.parametrize("lang", list(PAGES))
def test_the_page_tells_what_happens(forge, lang, project, bot, request):
    server = forge(project)
    told = life(server, project, bot, lang)
    server.close()
    check(server, told, lang, request)


@pytest.mark.slow
def test_github_is_told_as_it_goes_through_prism(checked_github, project, bot, request):
    check(checked_github, life(checked_github, project, bot, "en"), "en", request)
