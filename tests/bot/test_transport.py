"""Where a token goes, how long the bot waits, and what it says when the other side says no."""

from __future__ import annotations

import pytest
from fake_forge import TOKEN, Refused
from fake_github import GitHub

from npu_migrate.bot.transport import Access, ForgeError, Transport
from npu_migrate.errors import InputError


@pytest.fixture
def github(project):
    forge = GitHub(project)
    yield forge
    forge.close()


@pytest.fixture
def elsewhere(project):
    forge = GitHub(project)
    yield forge
    forge.close()


def test_a_redirect_to_another_host_gets_no_token(github, elsewhere, bot):
    github.trouble = [Refused(302, "moved", Location=f"{elsewhere.url}/user")]
    done = bot(github, code=2)
    assert "token was not sent there" in done.stderr
    assert elsewhere.requests == []


def test_a_redirect_within_the_host_is_followed_for_reads(github, bot):
    github.trouble = [Refused(301, "moved", Location="/repos/ascend/detector/pulls/7")]
    bot(github)
    assert github.comments


def test_a_redirect_of_a_write_is_not_followed(github, bot):
    bot(github, "--dry-run")
    github.trouble = [None] * len(github.requests) + [Refused(307, "moved", Location="/user")]
    bot(github, code=2)
    assert github.comments == []


@pytest.mark.parametrize(
    ("trouble", "slept"),
    [
        (Refused(429, "slow down", Retry_After="7"), [7.0]),
        (Refused(403, "secondary rate limit", Retry_After="3"), [3.0]),
        (Refused(403, "rate limit", X_RateLimit_Remaining="0", X_RateLimit_Reset="1"), [1.0]),
        (Refused(429, "rate limit", RateLimit_Remaining="0", RateLimit_Reset="1"), [1.0]),
    ],
)
def test_rate_limits_are_waited_for(github, bot, waits, trouble, slept):
    github.trouble = [trouble]
    bot(github)
    assert waits[: len(slept)] == slept
    assert github.comments


def test_a_server_in_trouble_is_asked_again_ever_later(github, bot, waits):
    github.trouble = [Refused(502, "bad gateway")] * 3
    bot(github)
    assert [int(wait) for wait in waits[:3]] == [1, 2, 4]


def test_a_long_rate_limit_ends_the_run_with_one_line(github, bot, waits):
    github.trouble = [Refused(429, "come back tomorrow", Retry_After="86400")]
    done = bot(github, code=2)
    assert waits == []
    assert "free again in 86400 seconds" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_nothing_is_posted_twice_when_a_post_breaks(github, bot, waits):
    bot(github, "--dry-run")
    github.trouble = [None] * len(github.requests) + [Refused(502, "bad gateway")]
    waits.clear()
    bot(github, code=2)
    assert [method for method, _ in github.changes()] == ["POST"]
    bot(github)
    assert len(github.comments) == 1


def test_changes_keep_their_distance(github, bot, waits):
    bot(github)
    assert waits == [1.0] * (len(github.changes()) - 1)


def test_a_wrong_token_is_one_line_without_it(github, bot):
    done = bot(github, code=2, GITHUB_TOKEN="wr0ng-token")  # noqa: S106 - of a server that stands in for one
    assert done.stderr == "npu-migrate: GET /repos/ascend/detector/pulls/7: 401 Bad credentials\n"


def test_a_token_in_an_answer_is_blotted_out(github, bot):
    github.trouble = [Refused(404, f"no access with {TOKEN}")]
    assert "no access with ***" in bot(github, code=2).stderr


def test_an_answer_of_another_shape_is_one_line(github, bot):
    github.pull = list
    done = bot(github, code=2)
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://git.example.com/api/v3", "bot-plain-http"),
        ("ftp://git.example.com", "bot-url"),
        ("git.example.com", "bot-url"),
        ("https://user:pass@git.example.com", "bot-url"),
    ],
)
def test_where_no_token_goes(url, says):
    with pytest.raises(InputError) as caught:
        Transport(Access(url, TOKEN))
    assert caught.value.says == says


def test_the_token_is_in_one_header_only(github, bot):
    bot(github)
    for request in github.requests:
        assert [name for name, value in request.headers.items() if TOKEN in value] == ["authorization"]
        assert TOKEN not in str((request.path, request.query, request.body))


def test_nothing_that_is_logged_holds_the_token(github, bot, caplog):
    caplog.set_level("DEBUG")
    bot(github)
    assert caplog.records
    assert TOKEN not in caplog.text


def test_no_answer_at_all(waits):
    transport = Transport(Access("http://127.0.0.1:9", TOKEN), sleep=waits.append)
    with pytest.raises(ForgeError) as caught:
        transport.get("/user")
    assert caught.value.says == "bot-network"
    assert len(waits) == 4
