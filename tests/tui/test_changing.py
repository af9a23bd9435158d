"""Changes of a real Proxy from the console: asked about, refused, made."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from cacheroute.wire.admin import MAX_IDS
from cacheroute_tui.changing import (
    Change,
    ChangeTrouble,
    Operator,
    named,
    open_operator,
    word_to_type,
)
from cacheroute_tui.options import Target
from tests.support.proxy import RunningProxy, running_proxy


@asynccontextmanager
async def proxy_with(*ids: str) -> AsyncIterator[RunningProxy]:
    """Run a Proxy with these Instances."""
    async with running_proxy() as proxy:
        for number, one in enumerate(ids):
            await proxy.register(instance_id=one, host="127.0.0.1", port=9401 + number)
        yield proxy


@asynccontextmanager
async def operator_of(proxy: RunningProxy, *, may_write: bool = True) -> AsyncIterator[Operator]:
    """Open the console's own operator."""
    operator = open_operator(Target(proxy_url=proxy.control_url), may_write)
    yield operator
    await operator.close()


async def test_a_change_is_asked_about_and_then_made() -> None:
    async with proxy_with("i-1", "i-2", "i-3") as proxy, operator_of(proxy) as operator:
        change = Change(verb="drain", ids=("i-1",))

        outlook = await change.outlook(operator)
        assert outlook.change == change
        assert outlook.effect.startswith("drain i-1: no request runs there; 2 Instances are left")
        assert outlook.more == ("what runs there will finish; new requests go elsewhere",)
        made = await change.make(operator)
        assert made.done == ("i-1",)
        assert (await change.outlook(operator)).change.ids == ()


async def test_of_many_only_those_that_are_not_so_already_are_changed() -> None:
    ids = ("i-1", "i-2", "i-3", "i-4", "i-5", "i-6")
    async with proxy_with(*ids) as proxy, operator_of(proxy) as operator:
        await Change(verb="drain", ids=("i-2",)).make(operator)

        outlook = await Change(verb="drain", ids=ids[:5]).outlook(operator)
        assert outlook.change.ids == ("i-1", "i-3", "i-4", "i-5")
        assert outlook.already == ("i-2",)
        assert outlook.more[1:] == ("i-1, i-3, i-4, i-5", "drained already: i-2")
        assert (await outlook.change.make(operator)).done == outlook.change.ids


async def test_who_is_unknown_is_left_out_and_the_others_are_asked_about() -> None:
    async with proxy_with("i-1", "i-2", "i-3") as proxy, operator_of(proxy) as operator:
        outlook = await Change(verb="drain", ids=("gone", "i-1", "名")).outlook(operator)

        assert outlook.change.ids == ("i-1",)
        assert [one.instance_id for one in outlook.spared] == ["gone", "名"]
        assert outlook.more[1].startswith("left out: gone: there is no Instance gone")
        assert outlook.more[2] == "left out: 名: no Proxy takes the name '名'"


async def test_of_many_failures_a_question_tells_a_few_and_counts_the_others() -> None:
    unknown = tuple(f"x-{number}" for number in range(9))
    async with proxy_with("i-1", "i-2") as proxy, operator_of(proxy) as operator:
        outlook = await Change(verb="drain", ids=("i-1", *unknown)).outlook(operator)

        assert len(outlook.spared) == 9
        assert outlook.more[-1] == "left out: 4 more"
        with pytest.raises(ChangeTrouble, match="there is no Instance"):
            await Change(verb="drain", ids=unknown).outlook(operator)


async def test_what_fails_alone_does_not_undo_what_is_done() -> None:
    async with proxy_with("i-1", "i-2", "i-3") as proxy, operator_of(proxy) as operator:
        made = await Change(verb="drain", ids=("i-1", "gone", "i-2")).make(operator)

        assert made.told == "drain: 2 of 3 done"
        assert made.done == ("i-1", "i-2")
        assert [one.instance_id for one in made.spared] == ["gone"]


async def test_an_operator_that_only_looks_sends_nothing() -> None:
    async with (
        proxy_with("i-1", "i-2", "i-3") as proxy,
        operator_of(proxy, may_write=False) as operator,
    ):
        for ids in (("i-1",), ("i-1", "i-2")):
            with pytest.raises(ChangeTrouble, match="read-only"):
                await Change(verb="drain", ids=ids).outlook(operator)
            with pytest.raises(ChangeTrouble, match="read-only"):
                await Change(verb="drain", ids=ids).make(operator)


async def test_the_last_ones_are_drained_only_by_force() -> None:
    async with proxy_with("i-1", "i-2") as proxy, operator_of(proxy) as operator:
        both = Change(verb="drain", ids=("i-1", "i-2"))

        with pytest.raises(ChangeTrouble, match="':drain i-1 i-2 --force' does it all the same"):
            await both.outlook(operator)
        with pytest.raises(ChangeTrouble, match="--force"):
            await both.make(operator)
        assert (await Change(verb="undrain", ids=both.ids).outlook(operator)).change.ids == ()
        with pytest.raises(ChangeTrouble, match="nobody"):
            await Change(verb="drain", ids=("nobody",)).outlook(operator)


async def test_a_change_has_a_bound() -> None:
    many = tuple(f"i-{number}" for number in range(MAX_IDS + 1))
    async with proxy_with() as proxy, operator_of(proxy) as operator:
        with pytest.raises(ChangeTrouble, match="1000 Instances at most, not 1001"):
            await Change(verb="drain", ids=many).outlook(operator)


@pytest.mark.parametrize("url", ["demo:7", "replay:/x"])
def test_what_is_no_proxy_cannot_be_changed(url: str) -> None:
    with pytest.raises(ChangeTrouble, match="cannot be changed"):
        open_operator(Target(proxy_url=url, name="demo"), True)


@pytest.mark.parametrize(
    ("ids", "label", "word"),
    [
        (("a",), None, None),
        (("a", "b"), None, "2"),
        (("a",), "LAB", "LAB"),
        (("a", "b"), "LAB", "LAB"),
    ],
)
def test_what_must_be_typed(ids: tuple[str, ...], label: str | None, word: str | None) -> None:
    assert word_to_type(ids, Target(proxy_url="http://x", label=label)) == word


def test_a_question_names_twelve_and_counts_the_others() -> None:
    assert named(["a", "b"]) == "a, b"
    assert named([str(number) for number in range(14)]).endswith("10, 11 and 2 more")
