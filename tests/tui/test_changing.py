"""Changes of a real Proxy from the console: asked about, refused, made."""

import pytest

from cacheroute_tui.changing import Change, ChangeTrouble, open_operator, word_to_type
from cacheroute_tui.options import Target
from tests.support.proxy import running_proxy


async def test_a_change_is_asked_about_and_then_made() -> None:
    async with running_proxy() as proxy:
        for number in (1, 2, 3):
            await proxy.register(instance_id=f"i-{number}", host="127.0.0.1", port=9400 + number)
        operator = open_operator(Target(proxy_url=proxy.control_url), True)
        change = Change(verb="drain", ids=("i-1",))

        effect = await change.effect(operator)
        assert effect is not None
        assert effect.startswith("drain i-1: no request runs there; 2 Instances are left")
        assert await Change(verb="undrain", ids=("i-1",)).effect(operator) is None
        await change.make(operator)
        assert await change.effect(operator) is None
        await operator.close()


async def test_an_operator_that_only_looks_sends_nothing() -> None:
    async with running_proxy() as proxy:
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=9401)
        operator = open_operator(Target(proxy_url=proxy.control_url), False)

        with pytest.raises(ChangeTrouble, match="read-only"):
            await Change(verb="drain", ids=("i-1",)).effect(operator)
        with pytest.raises(ChangeTrouble, match="read-only"):
            await Change(verb="drain", ids=("i-1",)).make(operator)
        await operator.close()


async def test_the_last_one_is_drained_only_by_force() -> None:
    async with running_proxy() as proxy:
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=9401)
        operator = open_operator(Target(proxy_url=proxy.control_url), True)

        with pytest.raises(ChangeTrouble, match="':drain i-1 --force' does it all the same"):
            await Change(verb="drain", ids=("i-1",)).effect(operator)
        with pytest.raises(ChangeTrouble, match="nobody"):
            await Change(verb="drain", ids=("nobody",)).effect(operator)
        await operator.close()


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
