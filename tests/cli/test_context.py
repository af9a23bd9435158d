"""Option over environment over default."""

import pytest

from cacheroute_cli.context import Given, base_url, resolve
from cacheroute_cli.diagnostics import UsageFault


def test_with_nothing_said_the_defaults_hold() -> None:
    context = resolve(Given(), {})

    assert context.proxy_url == "http://127.0.0.1:8002"
    assert context.proxy_url_is_default
    assert context.timeout_s == 5.0
    assert context.token is None
    assert context.output is None
    assert not context.as_json
    assert not context.ascii


def test_our_variable_outranks_the_published_one_and_an_option_both() -> None:
    environ = {"PROXY_CP_URL": "http://old:1", "CACHEROUTE_PROXY_URL": "http://new:2"}

    assert resolve(Given(), {"PROXY_CP_URL": "http://old:1"}).proxy_url == "http://old:1"
    assert resolve(Given(), environ).proxy_url == "http://new:2"
    assert resolve(Given(proxy_url="http://typed:3"), environ).proxy_url == "http://typed:3"
    assert not resolve(Given(), environ).proxy_url_is_default


def test_an_option_after_the_command_outranks_one_before_it() -> None:
    before = Given(output="table", timeout_s=1.0, token="a")

    given = Given(output="json").over(before)

    assert given == Given(output="json", timeout_s=1.0, token="a")


def test_the_token_comes_from_the_environment_and_blank_is_none() -> None:
    assert resolve(Given(), {"CACHEROUTE_TOKEN": "t"}).token == "t"
    assert resolve(Given(), {"CACHEROUTE_TOKEN": ""}).token is None
    assert resolve(Given(token="typed"), {"CACHEROUTE_TOKEN": "t"}).token == "typed"


def test_a_no_is_said_as_well_as_a_yes() -> None:
    before = Given(headers=True, watch=True)

    assert Given(headers=False).over(before) == Given(headers=False, watch=True)


def test_what_only_lists_understand_is_known_as_such() -> None:
    assert Given(headers=False, interval_s=2.0).for_lists == ("headers", "interval_s")
    assert Given(output="json", color="never").for_lists == ()


def test_both_kinds_of_json_are_for_programs() -> None:
    assert resolve(Given(output="json"), {}).as_json
    assert resolve(Given(output="jsonl"), {}).as_json
    assert not resolve(Given(output="csv"), {}).as_json


@pytest.mark.parametrize(
    ("environ", "is_ascii"),
    [
        ({}, False),
        ({"TERM": "xterm", "LANG": "de_DE.UTF-8"}, False),
        ({"TERM": "linux", "LANG": "de_DE.UTF-8"}, True),
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, True),
        ({"LC_ALL": "C.UTF-8", "LANG": "C"}, False),
        ({"LANG": "C"}, True),
        ({"LANG": "POSIX", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, False),
    ],
)
def test_a_terminal_without_unicode_is_known_by_its_environment(
    environ: dict[str, str], is_ascii: bool
) -> None:
    assert resolve(Given(), environ).ascii == is_ascii
    assert resolve(Given(ascii=True), environ).ascii


@pytest.mark.parametrize("timeout_s", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_timeout_that_is_no_time_is_refused(timeout_s: float) -> None:
    with pytest.raises(UsageFault, match="--timeout must be a positive number"):
        resolve(Given(timeout_s=timeout_s), {})


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("127.0.0.1:8002", "http://127.0.0.1:8002"),
        ("http://h:1/", "http://h:1"),
        ("https://h/base/", "https://h/base"),
        ("http://[::1]:8002", "http://[::1]:8002"),
    ],
)
def test_an_address_is_taken_as_a_url(text: str, url: str) -> None:
    assert base_url(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "ftp://h", "http://", "http://h:0", "http://h:70000", "http://h:x", "http://[", "h?q=1",
        "http://a..b:1", f"http://{'a' * 64}.org:1",
    ],
)  # fmt: skip
def test_what_is_no_url_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageFault, match=r"such as http://127\.0\.0\.1:8002"):
        base_url(text)
