"""Changes from the console: asked about, confirmed by a person, made, and told name by name."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from cacheroute.client.control import ControlClient
from cacheroute.wire.admin import ChangeBody, ChangeReply, DrainBody
from cacheroute_tui.opening import open_source
from cacheroute_tui.options import Target
from cacheroute_tui.widgets.confirm import Confirm
from cacheroute_tui.widgets.vtable import VTable
from tests.cli.live_proxy import LiveProxy, live_proxy
from tests.tui.fleet import StillFleet, drawn_fleet
from tests.tui.operated import KeptOperator, Operated, at, until
from tests.tui.screens.requests import request
from tests.tui.showing import settle, shown, text_of


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


async def test_d_says_what_will_happen_and_y_does_it(tmp_path: Path) -> None:
    operated = Operated(tmp_path, write=True)
    async with shown(operated.app) as pilot:
        await at(pilot, "inst-9001")
        await pilot.press("d")
        await until(pilot, lambda: isinstance(operated.app.screen, Confirm))
        asked = operated.app.screen
        assert isinstance(asked, Confirm)
        assert "4 requests run there; 3 Instances are left, all alive" in asked.text
        assert operated.operator.made == []

        await pilot.press("y")
        await until(pilot, lambda: operated.operator.made)
        assert operated.operator.made == [("drain", ("inst-9001",))]
        assert operated.operator.is_closed


@pytest.mark.parametrize("key", ["n", "escape", "q"])
async def test_anything_but_a_yes_changes_nothing(key: str, tmp_path: Path) -> None:
    operated = Operated(tmp_path, write=True)
    async with shown(operated.app) as pilot:
        await at(pilot, "inst-9001")
        await pilot.press("u")
        await until(pilot, lambda: isinstance(operated.app.screen, Confirm))
        await pilot.press("enter", key)
        await until(pilot, lambda: operated.said)

        assert operated.said == ["nothing was changed"]
        assert operated.operator.asked == [("undrain", ("inst-9001",))]
        assert operated.operator.made == []


async def test_a_labelled_context_wants_its_label_typed(tmp_path: Path) -> None:
    operated = Operated(tmp_path, write=True, label="LAB")
    async with shown(operated.app) as pilot:
        await at(pilot, "inst-9001")
        await pilot.press("d")
        await until(pilot, lambda: isinstance(operated.app.screen, Confirm))
        await pilot.press("y", "enter")
        assert isinstance(operated.app.screen, Confirm)
        assert "that is not LAB" in text_of(operated.app)

        operated.app.screen.query_one(Input).value = "LAB"
        await pilot.press("enter")
        await until(pilot, lambda: operated.operator.made)


@pytest.mark.parametrize(("key", "verb"), [("d", "drain"), ("u", "undrain")])
async def test_without_write_the_keys_say_how_to_get_one_that_may_change(
    key: str, verb: str, tmp_path: Path
) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await at(pilot, "inst-9001")
        await pilot.press(key)
        await settle(pilot)

        assert operated.said == [f"read-only: start the console with --write to {verb}"]
        assert operated.opened == []
        assert "Drain" not in text_of(operated.app)


async def test_what_is_no_proxy_is_not_changed_whatever_was_asked_for(tmp_path: Path) -> None:
    simulated = open_source(Target(proxy_url="demo:7"), False)
    operated = Operated(tmp_path, simulated, write=True)
    operated.app.target = replace(operated.app.target, readonly=True)
    async with shown(operated.app) as pilot:
        await pilot.press("d")
        await settle(pilot)

        assert operated.said == ["a simulated fleet cannot be changed"]


async def test_a_context_that_allows_no_change_says_so(tmp_path: Path) -> None:
    operated = Operated(tmp_path, write=True)
    operated.app.target = replace(operated.app.target, readonly=True)
    async with shown(operated.app) as pilot:
        await pilot.press("d")
        await settle(pilot)

        assert operated.said == ["read-only: the context local allows no drain"]


async def test_without_write_the_client_refuses_whoever_asks(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await at(pilot, "inst-9001")
        operated.app._change_selected("drain")
        await until(pilot, lambda: operated.said)

        assert operated.opened == [False]
        assert operated.operator.made == []
        assert "read-only" in operated.said[0]


# -- what is marked --------------------------------------------------------------------------


FLEET = ("inst-9001", "inst-9002", "inst-9004", "inst-9007")


@pytest.fixture
def proxy() -> Iterator[LiveProxy]:
    """Run a Proxy with four of the Instances that the console shows."""
    with live_proxy() as found:
        found.register(*FLEET)
        yield found


def console_of(proxy: LiveProxy, folder: Path, *, write: bool = True) -> Operated:
    operated = Operated(folder, write=write)
    operated.app.target = Target(proxy_url=proxy.url, name="local")
    # Over the network, with the guard of the client that the console really has.
    del operated.app.open_operator
    return operated


async def mark(pilot: Pilot[int], *ids: str) -> None:
    for one in ids:
        await at(pilot, one)
        await pilot.press("space")
    await settle(pilot)


async def asked(operated: Operated, pilot: Pilot[int], key: str) -> Confirm:
    await pilot.press(key)
    await until(pilot, lambda: isinstance(operated.app.screen, Confirm) or operated.said)
    assert isinstance(operated.app.screen, Confirm), operated.said
    return operated.app.screen


async def answer(pilot: Pilot[int], word: str) -> None:
    pilot.app.screen.query_one(Input).value = word
    await pilot.press("enter")
    await settle(pilot)


def marked(operated: Operated) -> set[str]:
    table: VTable[object] = operated.app.screen.query_one("#rows", VTable)
    return {row.id for row in table.marked_rows}  # type: ignore[attr-defined]


async def test_all_that_are_marked_are_drained_with_one_question(
    proxy: LiveProxy, tmp_path: Path
) -> None:
    proxy.occupy("inst-9001", 7)
    proxy.occupy("inst-9007", 2)
    operated = console_of(proxy, tmp_path)
    async with shown(operated.app) as pilot:
        await mark(pilot, "inst-9001", "inst-9007")
        question = await asked(operated, pilot, "d")
        assert question.text.splitlines() == [
            "drain inst-9001, inst-9007: 9 requests run there; 2 Instances are left, both alive",
            "what runs there will finish; new requests go elsewhere",
            f"at {proxy.url}",
        ]
        assert "drain 2 Instances at local" in text_of(operated.app)
        await pilot.press("y", "enter")
        await settle(pilot)
        assert proxy.routable() == set(FLEET), "a letter is not enough for two"

        await answer(pilot, "2")
        await until(pilot, lambda: proxy.routable() == {"inst-9002", "inst-9004"})
        await until(pilot, lambda: operated.said)
        assert operated.said == [
            "done: drain inst-9001, inst-9007: 9 requests run there; "
            "2 Instances are left, both alive"
        ]
        assert marked(operated) == set(), "what is done is no longer marked"
    proxy.release()


async def test_all_that_are_marked_are_undrained_and_who_is_as_wanted_is_named(
    proxy: LiveProxy, tmp_path: Path
) -> None:
    operated = console_of(proxy, tmp_path)
    async with shown(operated.app) as pilot:
        await mark(pilot, "inst-9001", "inst-9002")
        await asked(operated, pilot, "d")
        await answer(pilot, "2")
        await until(pilot, lambda: proxy.routable() == {"inst-9004", "inst-9007"})

        operated.said.clear()
        await mark(pilot, "inst-9001", "inst-9002", "inst-9004")
        question = await asked(operated, pilot, "u")
        assert "not drained: inst-9004" in question.text
        await answer(pilot, "2")
        await until(pilot, lambda: proxy.routable() == set(FLEET))
        await until(pilot, lambda: operated.said)
        assert marked(operated) == set()


async def test_a_no_changes_nothing_and_keeps_the_marks(proxy: LiveProxy, tmp_path: Path) -> None:
    operated = console_of(proxy, tmp_path)
    async with shown(operated.app) as pilot:
        await mark(pilot, "inst-9001", "inst-9002")
        await asked(operated, pilot, "d")
        await pilot.press("escape")
        await until(pilot, lambda: operated.said)

        assert operated.said == ["nothing was changed"]
        assert marked(operated) == {"inst-9001", "inst-9002"}
        assert proxy.routable() == set(FLEET)


async def test_the_last_of_all_are_not_drained_and_stay_marked(
    proxy: LiveProxy, tmp_path: Path
) -> None:
    operated = console_of(proxy, tmp_path)
    async with shown(operated.app) as pilot:
        await mark(pilot, *FLEET)
        await pilot.press("d")
        await until(pilot, lambda: operated.said)

        assert "':drain ID… --force' does it all the same" in operated.said[0]
        assert proxy.routable() == set(FLEET)
        assert marked(operated) == set(FLEET)


async def test_who_cannot_be_drained_is_named_and_stays_marked(
    proxy: LiveProxy, tmp_path: Path
) -> None:
    operated = console_of(proxy, tmp_path)
    async with shown(operated.app) as pilot:
        await mark(pilot, "inst-9001", "inst-9008", "inst-9002")
        question = await asked(operated, pilot, "d")
        assert "left out: inst-9008: there is no Instance inst-9008" in question.text
        await answer(pilot, "2")
        await until(pilot, lambda: proxy.routable() == {"inst-9004", "inst-9007"})
        await until(pilot, lambda: len(operated.said) > 1)

        assert operated.said[1].startswith("drain inst-9008: there is no Instance inst-9008")
        assert marked(operated) == {"inst-9008"}


async def test_who_goes_while_the_question_stands_does_not_hold_up_the_others(
    proxy: LiveProxy, tmp_path: Path
) -> None:
    operated = console_of(proxy, tmp_path)
    async with shown(operated.app) as pilot:
        await mark(pilot, "inst-9001", "inst-9002")
        await asked(operated, pilot, "d")
        with ControlClient(proxy.url) as other:
            other.drop(ChangeBody(instance_ids=["inst-9001"]))
        await answer(pilot, "2")
        await until(pilot, lambda: len(operated.said) > 1)

        assert operated.said[0] == "drain: 1 of 2 done"
        assert operated.said[1].startswith("drain inst-9001: there is no Instance inst-9001")
        assert proxy.routable() == {"inst-9004", "inst-9007"}
        assert marked(operated) == {"inst-9001"}


async def test_marks_do_not_get_round_the_guard_of_the_client(
    proxy: LiveProxy, tmp_path: Path
) -> None:
    operated = console_of(proxy, tmp_path, write=False)
    async with shown(operated.app) as pilot:
        await mark(pilot, "inst-9001", "inst-9002")
        operated.app._change_selected("drain")
        await until(pilot, lambda: operated.said)

        assert "read-only" in operated.said[0]
        assert proxy.routable() == set(FLEET)
        assert marked(operated) == {"inst-9001", "inst-9002"}


async def test_requests_are_no_instances_even_if_they_are_marked(tmp_path: Path) -> None:
    source = StillFleet(drawn_fleet())
    source.requests = [request(2, "r-2"), request(1, "r-1")]
    operated = Operated(tmp_path, source, screen="traces", write=True)
    async with shown(operated.app) as pilot:
        await pilot.press("space", "d")
        await until(pilot, lambda: operated.said)

        assert operated.said == ["no Instance is selected"]


class Slow(KeptOperator):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = asyncio.Event()

    async def drain(self, body: DrainBody) -> ChangeReply:
        """Drain, later."""
        await self.may_answer.wait()
        return await super().drain(body)


async def test_a_question_names_the_proxy_that_is_changed_whoever_is_looked_at_by_then(
    tmp_path: Path,
) -> None:
    operated, operator = Operated(tmp_path, write=True), Slow()
    operated.app.open_operator = lambda *_: operator
    async with shown(operated.app) as pilot:
        await at(pilot, "inst-9001")
        await pilot.press("d")
        await operated.app.look_at(Target(proxy_url="http://127.0.0.1:8012", name="b", label="LAB"))
        operator.may_answer.set()
        await until(pilot, lambda: isinstance(operated.app.screen, Confirm))
        asked = operated.app.screen
        assert isinstance(asked, Confirm)

        assert "drain at local" in text_of(operated.app)
        assert "at http://127.0.0.1:8002" in asked.text
        assert not asked.query(Input), "the label of the other one is none of it"
