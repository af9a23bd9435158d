"""From a target to a source."""

from pathlib import Path

import pytest

from cacheroute.client.faults import ReadOnly
from cacheroute.sources.live import LiveSource
from cacheroute.sources.simulated.source import SimulatedSource
from cacheroute_tui.opening import open_source, token_now
from cacheroute_tui.options import Target


async def test_an_address_is_a_proxy_that_is_looked_at_only() -> None:
    source = open_source(Target(proxy_url="http://127.0.0.1:9", token="t"), False)

    assert isinstance(source, LiveSource)
    assert source.name == "http://127.0.0.1:9"
    with pytest.raises(ReadOnly):
        source._client.guard.check("POST", "http://127.0.0.1:9/x")
    await source.close()


async def test_a_demo_is_a_fleet_that_is_not_there() -> None:
    source = open_source(Target(proxy_url="demo:3"), False)
    look = await source.look()

    assert isinstance(source, SimulatedSource)
    assert look.instances
    await source.close()


def test_a_recording_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError)):
        open_source(Target(proxy_url=f"replay:{tmp_path / 'none'}"), False)


def test_a_token_of_a_file_is_as_the_file_holds_it_now(tmp_path: Path) -> None:
    file = tmp_path / "token"
    target = Target(proxy_url="http://x", token="old", token_origin="token_file t", token_file=file)

    assert token_now(target) == "old", "the file is not there"
    file.write_text("new\n")
    assert token_now(target) == "new"
    assert token_now(Target(proxy_url="http://x", token="old")) == "old"
