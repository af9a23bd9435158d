"""What stands around the queues: sums of what is known, lanes, and knowledge with its links."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from cacheroute.console.look import Look
from cacheroute.console.rows.traces import TraceRow
from cacheroute.console.store import Beside, Seen
from cacheroute.core.clock import Instant
from cacheroute.wire.console import ConsoleSnapshot
from cacheroute.wire.queue_rules import QueueRules
from cacheroute_tui.screens.queue_panels import (
    figures_line,
    forecast_line,
    knowledge_lines,
    lane_lines,
)
from cacheroute_tui.widgets.lines import Span, TextLine
from tests.tui.fleet import WALL_S, drawn_fleet
from tests.tui.requests import links, request, requests


def text_of(lines: Sequence[TextLine]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


def seen(beside: Beside | None = None, *, document: ConsoleSnapshot | None = None) -> Seen:
    return Seen(
        look=Look(snapshot=document or drawn_fleet(), url=""),
        taken=Instant(mono_s=0.0, wall_s=WALL_S),
        beside=beside or Beside(),
    )


def lanes(traces: Sequence[TraceRow], *, room: int = 5, missing: str | None = None) -> list[str]:
    return text_of(
        lane_lines(
            traces, "inst-9007", room=room, width=79, inks=(), missing=missing, as_ascii=True
        )
    )


def test_the_pools_queues_are_summed_with_their_limits_and_the_longest_wait_named() -> None:
    [line] = text_of([figures_line(seen())])

    assert line == (
        " prep 4/12 +4 · ready 9/24 +9 · max 4.1s inst-9007 · release ordered · pfil 0 dec 2"
    )


def test_limits_that_a_proxy_does_not_tell_are_left_out_with_the_reason() -> None:
    older = msgspec.structs.replace(drawn_fleet(), queue_rules=None)
    [line] = text_of([figures_line(seen(document=older))])

    assert line.startswith(" prep 4 +4 · ready 9 +9 · max 4.1s inst-9007")
    assert " · limits ?  this Proxy does not tell · " in line


def test_a_full_queue_is_named_in_red() -> None:
    rules = QueueRules(prepare_concurrency=2, ready_concurrency=4, max_queue=2)
    full = msgspec.structs.replace(drawn_fleet(), queue_rules=rules)
    line = figures_line(seen(document=full))

    assert Span(" · FULL inst-9007 +2!", "bad") in line
    assert " · release ?" in text_of([line])[0]


def test_a_forecast_is_of_one_instance() -> None:
    row = next(row for row in seen().queues if row.id == "inst-9002")

    assert text_of([forecast_line(row)]) == [
        " slot in 0.2s · prompts read in 1.8s · a new request waits 1.8s"
    ]


def test_a_lane_has_actual_and_predicted_and_how_far_off() -> None:
    lane, legend = lanes([request(4, "inst-9007")])

    assert lane.count("|") == 1
    # As much as the list of traces says: of the actual time.
    assert lane.endswith("241 /190 ms +21%")
    assert "prefill" in legend


def test_a_lane_of_which_nothing_was_predicted_to_take_time_is_off_by_all_of_it() -> None:
    at_once = replace(
        request(4, "inst-9007"), predicted_ttft_ms=0.0, actual_ttft_ms=40.0, predict_error_ratio=1.0
    )

    assert lanes([at_once])[0].endswith("40 /0 ms +100%")


def test_a_lane_without_a_prediction_has_its_first_token_alone() -> None:
    lane = lanes([request(4, "inst-9007", None)])[0]

    assert "|" not in lane
    assert lane.endswith(" 242 ms")


def test_lanes_keep_to_their_room() -> None:
    assert len(lanes(requests(), room=3)) == 3
    assert len(lanes(requests(), room=1)) == 1
    assert all(len(line) <= 79 for line in lanes(requests()))


def test_why_there_are_no_lanes_is_told() -> None:
    assert lanes([], missing="it does not tell") == [" no requests: it does not tell"]
    assert lanes([]) == [" no request of inst-9007 has ended lately"]


def test_knowledge_is_told_as_far_as_it_is_known() -> None:
    whole = seen(Beside(traces=requests(), topology=links()))

    assert len(text_of(knowledge_lines(whole, {}, room=5))) == 5
    assert text_of(knowledge_lines(whole, {}, room=4))[-1] == " 2 more links: 6"
    assert text_of(knowledge_lines(seen(), {}, room=5)) == [
        " paths ?  the Proxy does not tell",
        " lately  none named knowledge",
        " KV links idle for a minute",
        " no link to a knowledge node is known",
    ]


def test_the_links_in_use_are_counted_as_of_now() -> None:
    document = drawn_fleet()
    busy = msgspec.structs.replace(document.instances, kv_links=2, kv_links_busy=1)
    some = seen(document=msgspec.structs.replace(document, instances=busy))

    assert " KV links 6/12 now" in text_of(knowledge_lines(some, {}, room=5))


def test_what_the_proxy_does_not_have_is_told_with_the_reason() -> None:
    why = {"traces": "no traces here", "topology": "no links here"}

    assert text_of(knowledge_lines(seen(), why, room=5))[1:] == [
        " lately ?  no traces here",
        " links ?  no links here",
    ]


def test_long_names_are_cut_where_they_are_alike() -> None:
    one = replace(request(0, "inst-9007"), request_id="req-b14e427eb919-000000000020")

    assert lanes([one])[0].startswith(" …000000020 ")


def test_a_fast_link_is_written_in_full() -> None:
    [link, _] = links()
    fast = seen(Beside(topology=[replace(link, bandwidth_mbps=12_000.0)]))

    assert "12000 Mbps" in text_of(knowledge_lines(fast, {}, room=5))[-1]
