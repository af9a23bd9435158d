"""The console in a browser, from a command: how it is run, and what is refused before."""

import pytest

from cacheroute_cli import web_console
from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.web_console import (
    BesideProxy,
    NoWebExtra,
    WebOnlyLooks,
    WebOptions,
    require_web_extra,
    serve_console,
    web_program,
)


def test_each_console_gets_what_was_said_of_the_proxy_and_the_server_the_rest() -> None:
    given = Given(proxy_url="http://127.0.0.1:8002", context="lab", token="secret", timeout_s=2.0)
    options = WebOptions(listen="127.0.0.1:0", token_file="/t", names=("console.lan",))

    program = web_program(given, options)

    assert program[1:] == (
        "-P", "-m", "cacheroute_tui.web", "--listen=127.0.0.1:0", "--token-file=/t",
        "--name=console.lan", "--", "--context=lab", "--proxy-url=http://127.0.0.1:8002",
        "--timeout=2.0",
    )  # fmt: skip


def test_write_is_refused_with_the_code_for_it() -> None:
    with pytest.raises(WebOnlyLooks, match="only looks") as caught:
        serve_console(Given(), WebOptions(write=True))

    assert caught.value.exit == Exit.NOT_ALLOWED


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_console, "NEEDED", "no_such_module_here")

    with pytest.raises(NoWebExtra, match="textual-serve") as caught:
        require_web_extra()

    assert caught.value.hint == "install it with: pip install 'cacheroute[web]'"
    with pytest.raises(NoWebExtra):
        serve_console(Given(), WebOptions())
    with pytest.raises(NoWebExtra):
        BesideProxy.of(True, None, None, {})


@pytest.mark.parametrize(
    ("said", "environ", "expected"),
    [
        ((None, None, None), {}, None),
        ((None, None, None), {"PROXY_UI_LISTEN": "127.0.0.1:9"}, None),
        ((False, "127.0.0.1:9", "http://x"), {}, None),
        ((True, None, None), {}, ("127.0.0.1:8202", None)),
        ((True, None, None), {"PROXY_UI_LISTEN": "127.0.0.1:9"}, ("127.0.0.1:9", None)),
        ((None, "127.0.0.1:7", None), {"PROXY_UI_LISTEN": "127.0.0.1:9"}, ("127.0.0.1:7", None)),
        ((None, None, "https://c.lan"), {}, ("127.0.0.1:8202", "https://c.lan")),
    ],
)
def test_the_published_options_of_a_proxy_mean_it(
    said: tuple[bool | None, str | None, str | None],
    environ: dict[str, str],
    expected: tuple[str, str | None] | None,
) -> None:
    found = BesideProxy.of(*said, environ)

    assert (None if found is None else (found.listen, found.url)) == expected


def test_a_proxy_and_its_console_are_found_by_one_name() -> None:
    beside = BesideProxy(listen="127.0.0.1:8202", url="https://console.lan/x")

    launch = beside.launch("hp_127.0.0.1:8001", "http://127.0.0.1:8002", token="secret")

    assert (launch.kind, launch.name) == ("web", "hp_127.0.0.1:8001")
    assert launch.argv[-3:] == ("--name=console.lan", "--", "--proxy-url=http://127.0.0.1:8002")
    assert "secret" not in " ".join(launch.argv)
    assert launch.env == {"CACHEROUTE_TOKEN": "secret"}
    assert [(one.host, one.port) for one in launch.wanted] == [("127.0.0.1", 8202)]
    match = launch.says_ready.search("http://127.0.0.1:8202/?token=x\n")
    assert match is not None
    assert match["web"] == "http://127.0.0.1:8202/?token=x"


def test_a_console_at_any_port_wants_none() -> None:
    assert BesideProxy(listen="127.0.0.1:0", url=None).wanted == ()
