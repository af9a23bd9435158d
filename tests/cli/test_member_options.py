"""What is said about a server for the pool reaches its attachment, whichever command takes it."""

from pathlib import Path

import pytest
import typer

from cacheroute_cli.attaching import Attaching
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.member_options import Member, with_member

SEEN: list[Member] = []


def ran(*arguments: str) -> Member:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command()
    @with_member
    def join(member: Member) -> None:
        SEEN.append(member)

    typer.main.get_command(app).main(args=list(arguments), standalone_mode=False)
    return SEEN[-1]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("CACHEROUTE_PROXY_URL", "PROXY_CP_URL", "CACHEROUTE_TOKEN", "PROXY_CP_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def test_everything_that_is_said_reaches_the_attachment() -> None:
    member = ran(
        *("--model", "m", "--instance-id", "i", "--tags", "a,b", "--weight", "2"),
        *("--api-key-env", "KEY", "--agent-url", "http://a:1", "--no-agent"),
        *("--kdn-targets", "k:1", "--proxy-url", "http://p:2", "--token", "secret"),
    )

    assert isinstance(member.context, Context)
    assert member.attaching("http://s:3", interval_s=1.0, wait_s=5.0, on_this_host=True) == (
        Attaching(
            endpoint="http://s:3",
            proxy_url="http://p:2",
            token="secret",
            model="m",
            instance_id="i",
            tags="a,b",
            weight=2.0,
            api_key_env="KEY",
            agent_url="http://a:1",
            no_agent=True,
            on_this_host=True,
            kdn_targets="k:1",
            interval_s=1.0,
            wait_s=5.0,
        )
    )


def test_what_is_not_said_is_left_to_the_program() -> None:
    attaching = ran("--proxy-url", "http://p:2").attaching("http://s:3")

    assert attaching == Attaching(endpoint="http://s:3", proxy_url="http://p:2")


def test_what_is_for_lists_is_refused() -> None:
    with pytest.raises(UsageFault, match="there is no csv of this"):
        ran("-o", "csv")
