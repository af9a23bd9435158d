"""The last requests: how many are kept, in which order, and nothing of their bodies."""

from cacheroute.core.request import RouteRequest
from cacheroute.runtime.story import Story
from cacheroute.runtime.traces import KEPT, Traces
from tests.cacheroute.planes.control_parts import a_request
from tests.cacheroute.planes.test_traces import a_record


def a_story(request: RouteRequest | None = None) -> Story:
    return Story(request or a_request("r"))


def test_requests_come_back_newest_first_whichever_ring_they_are_in() -> None:
    traces = Traces()
    traces.add(a_record(request_id="a"), 0.1)
    traces.add_story(a_record(request_id="b"), 0.2, a_story())
    traces.add(a_record(request_id="c"))

    assert [each.record.request_id for each in traces.last(10)] == ["c", "b", "a"]
    assert [each.number for each in traces.last(2)] == [3, 2]
    assert [each.marks is None for each in traces.last(3)] == [True, False, True]
    assert traces.total == 3
    assert list(traces.last(0)) == []


def test_plain_traffic_pushes_no_story_out() -> None:
    traces = Traces()
    traces.add_story(a_record(request_id="told"), 0.2, a_story())
    for number in range(2 * KEPT):
        traces.add(a_record(request_id=f"r-{number}"))

    assert traces.find("told") is not None
    assert traces.find("r-0") is None
    assert len(list(traces.last(10_000))) == KEPT + 1


def test_of_a_name_that_was_used_again_the_newest_is_found() -> None:
    traces = Traces()
    traces.add(a_record(e2e_ms=1.0))
    traces.add_story(a_record(e2e_ms=2.0), None, a_story())

    found = traces.find("r-1")

    assert found is not None
    assert (found.number, found.record.e2e_ms) == (2, 2.0)
    assert traces.find("r-2") is None


def test_nothing_of_a_request_is_kept_but_its_record_and_its_marks() -> None:
    traces = Traces()
    story = a_story()
    record = a_record()
    traces.add_story(record, 0.1, story)

    [kept] = traces.last(1)

    assert kept.record is record
    assert kept.marks is story.trace.values
    assert not any(isinstance(part, Story | RouteRequest | bytes) for part in kept)
