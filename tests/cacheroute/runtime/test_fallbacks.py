"""Whatever becomes of the knowledge, the request goes on, and its meta says what became of it.

One test per row of the published table of fallbacks, and its neighbours: the path that is
told, the acknowledgement, the ids, the error, and the body that the Instance really got.
"""

import zlib
from typing import Any

import pytest

from tests.support.backend import refusing
from tests.support.knowledge import (
    ASKED,
    PROMPT,
    Piece,
    Stage,
    Told,
    acknowledged,
    asked_with,
    kid_of,
    stage,
)
from tests.support.openai_shapes import DONE, token
from tests.support.script import Close, Freeze, Reset, Script, json_answer, stream

PUMP = Piece("The pump P-7 never runs dry.")
VALVE = Piece("The valve V-2 opens to the left.")
SEAL = Piece("The seal is changed every year.", kv_ready=False)
GONE = kid_of("nobody has this")


PLAIN = asked_with()


def wrapped(text: str) -> str:
    """Return knowledge as it is put in a prompt as text."""
    return f"Background:\n{text}"


def not_injected(*text_only: str, missing: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    """Return the acknowledgement of a Proxy that got none."""
    return {
        "injected_kids": [], "text_only_kids": list(text_only), "miss_kids": list(missing),
        "keys_injected": 0, **fields,
    }  # fmt: skip


async def counted(on: Stage) -> dict[str, int]:
    """Return how often knowledge went which way, as the Proxy counts it."""
    (member,) = on.proxy.app.proxy.pool.members.values()
    return on.proxy.app.proxy.tally(member).paths


# The rows of the table


async def test_injected_kv_is_told_in_the_words_of_the_instance() -> None:
    async with stage(PUMP) as on:
        told = await on.ask([PUMP.kid])
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        assert told.meta["kv_ack"] == acknowledged([PUMP.kid])
        assert told.kids == ([PUMP.kid], [], [])
        assert told.meta["error"] is None
        assert on.player.asked == [asked_with(PUMP.content)]
        (order,) = on.player.ordered
        assert order == {
            "request_id": 17, "kdn_addr": on.node.authority, "model": "m",
            "knowledge_ids": [PUMP.kid],
        }  # fmt: skip
        assert await counted(on) == {"kv_inject": 1}


@pytest.mark.parametrize(
    ("orders", "why"),
    [
        (
            json_answer({"error": "kdn_failed", "detail": "no"}, 500),
            "answered the injection with 500",
        ),
        (json_answer({"detail": "unknown"}, 404), "answered the injection with 404"),
        (json_answer([1, 2]), "answered the injection with no JSON object"),
        ((Reset(),), ""),
        ((Close(),), ""),
    ],
    ids=["500", "404", "a list", "reset", "closed"],
)
async def test_an_order_that_fails_falls_back_to_the_same_words_as_text(
    orders: Script, why: str
) -> None:
    async with stage(PUMP, SEAL) as on:
        on.player.orders = orders
        told = await on.ask([PUMP.kid, SEAL.kid, GONE])
        assert told.paths == {"kvcache_actual_path": "kv_inject_failed_fallback_text"}
        ack = told.meta["kv_ack"]
        detail = ack.pop("detail")
        assert ack == not_injected(PUMP.kid, SEAL.kid, missing=(GONE,), ok=False)
        assert why in detail
        assert on.player.backend.authority not in detail, "an address is nobody's business"
        assert told.kids == ([PUMP.kid], [SEAL.kid], [GONE])
        assert told.meta["error"] is None
        assert on.player.asked == [asked_with(f"{PUMP.content}\n{SEAL.content}")]
        assert await counted(on) == {"kv_inject_failed_fallback_text": 1}


async def test_an_order_that_is_not_answered_in_time_costs_one_request_and_no_instance() -> None:
    async with stage(PUMP, kdn__inject_timeout_s=0.05) as on:
        on.player.orders = (Freeze(),)
        told = await on.ask([PUMP.kid])
        assert told.paths == {"kvcache_actual_path": "kv_inject_failed_fallback_text"}
        assert "within 0.05 s (kdn.inject_timeout_s)" in told.meta["kv_ack"]["detail"]
        (row,) = await on.proxy.instances()
        assert (row["is_alive"], row["ejected_for_s"]) == (True, 0)
        (member,) = on.proxy.app.proxy.pool.members.values()
        assert on.proxy.app.proxy.tally(member).failures == {}
        assert on.player.asked == [asked_with(PUMP.content)]


async def test_without_any_kv_nothing_is_ordered_and_the_words_stay_as_they_are() -> None:
    async with stage(SEAL) as on:
        told = await on.ask([SEAL.kid, GONE])
        assert told.paths == {"kvcache_actual_path": "no_kv_ready_fallback_text"}
        assert told.meta["kv_ack"] == not_injected(
            SEAL.kid, missing=(GONE,), ok=True, detail="no kv_ready_kids"
        )
        assert told.kids == ([], [SEAL.kid], [GONE])
        assert told.meta["error"] is None
        assert on.player.ordered == []
        assert on.player.asked == [asked_with(SEAL.content)]


async def test_text_is_wrapped_and_acknowledged_by_nobody() -> None:
    async with stage(PUMP, SEAL) as on:
        told = await on.ask([PUMP.kid, SEAL.kid], mode="text")
        assert told.paths == {"text_actual_path": "text_inject"}
        assert told.meta["kv_ack"] == {}
        assert told.kids == ([PUMP.kid], [SEAL.kid], [])
        assert told.meta["error"] is None
        assert on.player.ordered == []
        assert on.player.asked == [asked_with(wrapped(f"{PUMP.content}\n{SEAL.content}"))]


@pytest.mark.parametrize(("rag", "kids"), [(False, [PUMP.kid]), (True, [])])
@pytest.mark.parametrize("mode", ["text", "kvcache"])
async def test_without_knowledge_to_bring_the_prompt_goes_as_it_is(
    mode: str, rag: bool, kids: list[str]
) -> None:
    async with stage(PUMP) as on:
        told = await on.ask(kids, mode=mode, rag=rag)
        text_path = {"text_actual_path": "no_rag_or_empty_knowledge"}
        assert told.paths == (text_path if mode == "text" else {})
        assert told.meta["kv_ack"] == {}
        assert told.kids == ([], [], [])
        assert told.meta["error"] is None
        assert on.looked_up == []
        assert on.player.asked == [PLAIN]


LOOKUP_FAULTS: dict[str, tuple[Script, str]] = {
    "500": (json_answer({"error": "TextDatabase not initialized"}, 500), "500"),
    "400": (json_answer({"error": "knowledge_ids must be a list"}, 400), "400"),
    "404": (json_answer({"items": [], "miss": []}, 404), "404"),
    "an error with 200": (json_answer({"error": "busy"}), "no list of knowledge"),
    "no list": (json_answer({"items": "none"}), "no list of knowledge"),
    "reset": ((Reset(),), ""),
    "closed": ((Close(),), ""),
}


@pytest.mark.parametrize("mode", ["text", "kvcache"])
@pytest.mark.parametrize("fault", LOOKUP_FAULTS)
async def test_a_lookup_that_fails_leaves_the_request_without_knowledge(
    fault: str, mode: str
) -> None:
    async with stage(PUMP) as on:
        on.node.reply, why = LOOKUP_FAULTS[fault]
        told = await on.ask([PUMP.kid, GONE], mode=mode)
        assert told.paths == {}
        assert told.meta["kv_ack"] == {}
        assert told.kids == ([], [], [PUMP.kid, GONE])
        error = told.meta["error"]
        assert error.startswith("prepare_failed: ")
        assert why in error
        assert on.player.ordered == []
        assert on.player.asked == [PLAIN]
        assert await counted(on) == {"lookup_failed": 1}


async def test_a_lookup_that_is_not_answered_in_time_is_given_up() -> None:
    async with stage(PUMP, kdn__lookup_timeout_s=0.05) as on:
        on.node.reply = (Freeze(),)
        told = await on.ask([PUMP.kid])
        assert told.paths == {}
        assert "within 0.05 s (kdn.lookup_timeout_s)" in told.meta["error"]
        assert told.kids == ([], [], [PUMP.kid])
        assert on.player.asked == [PLAIN]


async def test_a_node_that_cannot_be_reached_leaves_the_request_without_knowledge() -> None:
    async with refusing() as dead:
        address = dead.removeprefix("http://")
        async with stage(PUMP, kdn__allow=[address]) as on:
            told = await on.ask([PUMP.kid], kdn=address)
            assert told.paths == {}
            assert told.meta["kv_ack"] == {}
            assert told.kids == ([], [], [PUMP.kid])
            assert told.meta["error"].startswith("prepare_failed: ")
            assert address in told.meta["error"]
            assert on.player.asked == [PLAIN]


async def test_without_an_address_everything_is_missing() -> None:
    async with stage(PUMP) as on:
        for mode in ("kvcache", "text"):
            told = await on.ask([PUMP.kid], kdn="", mode=mode)
            assert told.meta["kv_ack"] == {}
            assert told.kids == ([], [], [PUMP.kid])
            assert told.meta["error"] is None
        assert on.looked_up == []
        assert on.player.asked == [PLAIN, PLAIN]


async def test_a_mode_that_means_nothing_skips_the_knowledge_and_says_so() -> None:
    async with stage(PUMP) as on:
        told = await on.ask([PUMP.kid], mode="Telepathy")
        assert told.paths == {}
        assert told.meta["kv_ack"] == {}
        assert told.meta["error"] == (
            "prepare_failed: Service.Injection_type is 'telepathy', neither 'text' nor 'kvcache'; "
            "the request goes on without knowledge"
        )
        assert on.player.ordered == []
        assert on.player.asked == [PLAIN]
        assert told.trace["predict_total_tokens"] == 50 + 36  # nothing stands before the prompt
        assert await counted(on) == {"unknown_injection_type": 1}


# Their neighbours


@pytest.mark.parametrize(
    "ack",
    [
        acknowledged([], text_only_kids=[PUMP.kid], detail="Redis does not answer"),
        {"ok": True},
        {"ok": True, "injected_kids": None},
        {"ok": True, "injected_kids": [1, None]},
        acknowledged([kid_of("another one")]),
    ],
    ids=["none of them", "no list", "null", "no ids", "a stranger"],
)
async def test_ok_without_the_id_is_no_injection(ack: dict[str, Any]) -> None:
    async with stage(PUMP) as on:
        on.player.orders = json_answer(ack)
        told = await on.ask([PUMP.kid])
        assert told.paths == {"kvcache_actual_path": "kv_inject_failed_fallback_text"}
        assert told.meta["kv_ack"] == ack
        assert told.trace["predict_reused_tokens"] == 0
        assert on.player.asked == [asked_with(PUMP.content)]


async def test_of_several_pieces_only_the_first_with_kv_is_injected_and_reused() -> None:
    async with stage(SEAL, PUMP, VALVE) as on:
        told = await on.ask([SEAL.kid, PUMP.kid, VALVE.kid], knowledge_length=3072)
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        assert told.kids == ([PUMP.kid, VALVE.kid], [SEAL.kid], [])
        assert [order["knowledge_ids"] for order in on.player.ordered] == [[PUMP.kid]]
        # What has KV stands first, and the very first is what its KV was built from.
        whole = f"{PUMP.content}\n{VALVE.content}\n{SEAL.content}"
        assert on.player.asked == [asked_with(whole)]
        share = 3072 * len(PUMP.content) // len(whole)
        assert told.trace["predict_reused_tokens"] == share // 256 * 256
        assert told.trace["predict_total_tokens"] == 50 + 3072 + 36


async def test_what_was_not_found_is_not_predicted_either() -> None:
    async with stage(PUMP) as on:
        told = await on.ask([PUMP.kid, GONE], knowledge_length=1024, mode="text")
        assert told.trace["predict_total_tokens"] == 50 + 512 + 36
        told = await on.ask([GONE], knowledge_length=1024, mode="text")
        assert told.trace["predict_total_tokens"] == 50 + 36
        assert told.paths == {"text_actual_path": "no_knowledge_found"}
        assert on.player.asked[1] == PLAIN


async def test_ids_match_in_any_case_and_are_told_as_they_were_asked_for() -> None:
    async with stage(PUMP, SEAL) as on:
        upper = PUMP.kid.upper()
        told = await on.ask([upper, f" {SEAL.kid.upper()} ", upper])
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        assert told.kids == ([upper], [f" {SEAL.kid.upper()} "], [])
        # A node knows its KV by the id that it gave out, whoever spells it how.
        assert on.player.ordered[0]["knowledge_ids"] == [PUMP.kid]
        assert on.player.asked == [asked_with(f"{PUMP.content}\n{SEAL.content}")]


async def test_an_acknowledgement_in_upper_case_counts() -> None:
    async with stage(PUMP) as on:
        on.player.orders = json_answer(acknowledged([PUMP.kid.upper()]))
        told = await on.ask([PUMP.kid])
        assert told.paths == {"kvcache_actual_path": "kv_inject"}


@pytest.mark.parametrize(
    ("request_id", "ordered"),
    [
        ("42", 42), (" 7 ", 7), (0, 0), (-3, -3), (10**30, 10**30),
        ("req-7", zlib.crc32(b"req-7")), (True, zlib.crc32(b"True")), ("²", None), ("\ud800", None),
    ],
)  # fmt: skip
async def test_an_id_of_any_kind_orders_by_a_whole_number(
    request_id: object, ordered: int | None
) -> None:
    async with stage(PUMP) as on:
        told = await on.ask([PUMP.kid], request_id=request_id)
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        (order,) = on.player.ordered
        assert isinstance(order["request_id"], int)
        if ordered is not None:
            assert order["request_id"] == ordered


async def test_a_completion_has_its_knowledge_in_front_of_the_prompt() -> None:
    async with stage(PUMP) as on:
        plain = {"model": "m", "stream": False, **ASKED}
        for mode, text in (("kvcache", PUMP.content), ("text", wrapped(PUMP.content))):
            told = await on.ask([PUMP.kid], mode=mode, endpoint="completions")
            assert on.player.asked[-1] == {**plain, "prompt": f"{text}\n{PROMPT}"}
            assert told.meta["error"] is None


async def test_a_stream_tells_the_same_before_its_end() -> None:
    async with stage(PUMP) as on:
        on.player.chats = stream(token("a"), token("b"), DONE)
        told = await on.ask([PUMP.kid], stream=True)
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        assert told.meta["kv_ack"] == acknowledged([PUMP.kid])
        assert on.player.asked == [asked_with(PUMP.content, stream=True)]
        assert_in_order(told)


def assert_in_order(told: Told) -> None:
    """What clients check of a trace: all moments are there, whole, and in their order."""
    names = (
        "proxy_recv_ms", "proxy_enqueue_ms", "prepare_queue_enqueue_ms", "prepare_dequeue_ms",
        "prepare_start_ms", "kdn_fetch_start_ms", "kdn_fetch_end_ms", "kv_inject_start_ms",
        "kv_ack_end_ms", "ready_enqueue_ms", "ready_dequeue_ms", "forward_wait_start_ms",
        "forward_wait_end_ms", "forward_start_ms", "first_token_ms",
    )  # fmt: skip
    moments = [told.trace[name] for name in names]
    assert moments == sorted(moments)
    assert all(type(told.trace[name]) is int for name in told.trace if name.endswith("_ms"))
    assert told.trace["actual_total_ms"] >= told.trace["actual_prepare_total_ms"]


async def test_text_that_windows_wrote_is_put_as_its_kv_was_built() -> None:
    windows = Piece("  line one\r\nline two\r\n ")
    async with stage(windows) as on:
        await on.ask([windows.kid])
        assert on.player.asked == [asked_with("line one\nline two")]


async def test_a_piece_without_text_is_put_nowhere() -> None:
    empty = Piece("  ")
    async with stage(empty, SEAL) as on:
        told = await on.ask([empty.kid, SEAL.kid])
        assert told.paths == {"kvcache_actual_path": "no_kv_ready_fallback_text"}
        assert on.player.asked == [asked_with(SEAL.content)]
