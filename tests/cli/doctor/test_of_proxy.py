"""Whether the Proxy answers, is of our version, and has our time."""

import pytest

from cacheroute import __version__
from cacheroute_cli.context import Context
from cacheroute_cli.doctor.of_proxy import check_clock, check_proxy, check_version
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies

NOBODY = "http://127.0.0.1:1"


def test_a_proxy_that_answers_is_well() -> None:
    pool = replies(an_instance("a"), an_instance("b", is_alive=False))
    pool["/debug/status"] |= {"proxy_id": "proxy-a", "version": __version__}
    with a_control_plane(pool) as url:
        proxy, version, clock = check_proxy(Context(proxy_url=url, proxy_url_is_default=False))

    assert (proxy.verdict, proxy.sentence) == (
        "ok", f"proxy-a at {url}: 1 of 2 Instances alive",
    )  # fmt: skip
    assert version.verdict == "ok"
    assert clock.name == "clock"


def test_one_that_tells_no_time_is_not_asked_for_it() -> None:
    pool = replies(an_instance("a"))
    del pool["/debug/instance_loads"]
    with a_control_plane(pool) as url:
        assert [c.name for c in check_proxy(Context(proxy_url=url))] == ["proxy", "version"]


def test_one_that_nobody_named_need_not_be_there() -> None:
    [named] = check_proxy(Context(proxy_url=NOBODY, proxy_url_is_default=False))
    [usual] = check_proxy(Context(proxy_url=NOBODY, proxy_url_is_default=True))

    assert (named.verdict, usual.verdict) == ("bad", "warn")
    assert usual.way_out == "'cacheroute up -d' starts one here"

    [other] = check_proxy(Context(proxy_url=NOBODY), ["http://127.0.0.1:9902"])
    assert other.way_out == "a stack that is up has one: --proxy-url http://127.0.0.1:9902"


@pytest.mark.parametrize(
    ("theirs", "verdict", "words"),
    [
        (__version__, "ok", "here and at the Proxy"),
        ("0.0.1", "warn", "the Proxy is 0.0.1"),
        (None, "warn", "does not tell its version"),
    ],
)
def test_versions_are_compared(theirs: str | None, verdict: str, words: str) -> None:
    check = check_version(theirs)

    assert check.verdict == verdict
    assert words in check.sentence


@pytest.mark.parametrize(
    ("theirs_s", "precision_s", "verdict", "words"),
    [
        (100.0, 0.01, "ok", "agrees with ours"),
        (100.9, 0.01, "ok", "agrees with ours"),
        (103.0, 5.0, "ok", "within 5000 ms"),
        (103.0, 0.01, "warn", "3.0s ahead of ours"),
        (90.0, 0.01, "warn", "10s behind ours"),
        (0.0, 0.01, "bad", "behind ours"),
        (None, 0.01, "warn", "does not tell its time"),
    ],
)
def test_clocks_are_compared_as_well_as_the_way_allows(
    theirs_s: float | None, precision_s: float, verdict: str, words: str
) -> None:
    check = check_clock(theirs_s, 100.0, precision_s)

    assert check.verdict == verdict
    assert words in check.sentence
