"""Live names come from files of this host; a Proxy is never asked."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cacheroute_cli.completing.candidates import Place
from cacheroute_cli.completing.names import Names
from cacheroute_cli.completing.seen import remember
from cacheroute_cli.supervisor.identity import identify
from cacheroute_cli.supervisor.state import Record, State


def names(source: str, **given: str) -> list[str]:
    typed = {f"--{name.replace('_', '-')}": value for name, value in given.items()}
    place = Place(current="", node={}, options={}, source=source, given=typed)
    known = Names({"strategies": ["round_robin"]}, {"status": {}, "ps": {}})
    return [one.word for one in known.of(source, place)]


@pytest.fixture
def contexts(state: Path) -> None:
    file = state.parent / "config" / "cacheroute" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        'current_context = "local"\n'
        'contexts.local = { proxy_url = "http://127.0.0.1:1" }\n'
        'contexts.lab = { proxy_url = "http://127.0.0.1:2" }\n'
    )


@pytest.mark.usefixtures("contexts")
def test_instances_are_those_of_the_proxy_that_is_meant() -> None:
    remember("http://127.0.0.1:1", instances=["here"])
    remember("http://127.0.0.1:2", instances=["there"])
    remember("http://127.0.0.1:3", instances=["elsewhere"])

    assert names("instances") == ["here"]
    assert names("instances", context="lab") == ["there"]
    assert names("instances", proxy_url="127.0.0.1:3") == ["elsewhere"]
    assert names("instances", context="none") == []
    assert names("instances", proxy_url="ftp://x") == []


@pytest.mark.usefixtures("contexts")
def test_contexts_are_those_of_the_configuration() -> None:
    assert names("contexts") == ["local", "lab"]
    assert names("contexts", config="/none.toml") == []


@pytest.mark.usefixtures("state")
def test_processes_are_those_that_were_started_here() -> None:
    me = identify(os.getpid())
    assert me is not None
    fields: dict[str, Any] = {
        "pid": me.pid, "start_ticks": me.start_ticks, "boot_id": me.boot_id, "argv": (),
        "urls": {}, "log": None, "started_at_s": 0.0,
    }  # fmt: skip
    State().write(Record(name="hp_127.0.0.1:8001", kind="proxy", **fields))
    State().write(Record(name="gone", kind="proxy", **{**fields, "start_ticks": 1}))

    assert names("proxy") == ["hp_127.0.0.1:8001"]
    assert names("agent") == []


def test_processes_of_stacks_are_found_by_their_records(state: Path) -> None:
    for stack, process in (("demo", "proxy"), ("demo", "instance-1"), ("lab", "kdn")):
        folder = state / "stacks" / stack / "procs"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{process}.json").write_text(json.dumps({}))

    assert names("stacks") == ["demo", "lab"]
    assert names("processes") == ["instance-1", "kdn", "proxy"]
    assert names("processes", stack="lab") == ["kdn"]


@pytest.mark.usefixtures("state")
def test_words_and_commands_are_as_they_are_and_the_unknown_is_nothing() -> None:
    assert names("strategies") == ["round_robin"]
    assert names("commands") == ["status", "ps"]
    assert names("shells") == ["bash", "zsh", "fish"]
    assert names("nobody") == []
