"""What stands around the queues: sums of what is known, lanes, and knowledge with its links."""

from collections.abc import Sequence
from dataclasses import replace

from cacheroute.console.look import Look
from cacheroute.console.rows.traces import TraceRow
from cacheroute.console.store import Beside, Seen
from cacheroute.core.clock import Instant
from cacheroute_tui.screens.queue_panels import (
    figures_line,
    forecast_line,
    knowledge_lines,
    lane_lines,
)
from cacheroute_tui.widgets.lines import TextLine
from tests.tui.fleet import WALL_S, drawn_fleet
from tests.tui.requests import links, request, requests


def text_of(lines: Sequence[TextLine]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


def seen(beside: Beside | None = None) -> Seen:
    return Seen(
        look=Look(snapshot=drawn_fleet(), url=""),
        taken=Instant(mono_s=0.0, wall_s=WALL_S),
        beside=beside or Beside(),
    )


def lanes(traces: Sequence[TraceRow], *, room: int = 5, missing: str | None = None) -> list[str]:
    return text_of(
        lane_lines(
            traces, "inst-9007", room=room, width=79, inks=(), missing=missing, as_ascii=True
        )
    )


def test_the_pools_queues_are_summed_and_the_longest_wait_named() -> None:
    [line] = text_of([figures_line(seen(), "ordered")])

    assert line == (" prep 4+4 · ready 9+9 · pfil 0 dec 2 · max 4.1s inst-9007 · release ordered")


def test_a_policy_that_nobody_told_is_unknown() -> None:
    assert text_of([figures_line(seen(), None)])[0].endswith("release ?")


def test_a_forecast_is_of_one_instance() -> None:
    row = next(row for row in seen().queues if row.id == "inst-9002")

    assert text_of([forecast_line(row, "ordered")]) == [
        " slot in 0.2s · prompts read in 1.8s · a new request waits 1.8s · released ordered"
    ]


def test_a_lane_has_actual_and_predicted_and_how_far_off() -> None:
    lane, legend = lanes([request(4, "inst-9007")])

    assert lane.count("|") == 1
    assert lane.endswith("241 /190 ms +27%")
    assert "prefill" in legend


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
