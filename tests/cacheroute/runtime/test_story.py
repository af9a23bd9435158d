"""What is told of a request, from what is known and nothing else."""

from typing import Any

from cacheroute.core.injection.knowledge import Classified
from cacheroute.runtime.story import Story
from tests.cacheroute.runtime.knowledge_parts import a_forwarded_request
from tests.cacheroute.runtime.runtime_parts import HandClock

FOUND = Classified(kv_ready=("aa",), text_only=("bb",), miss=("cc",), context="x")


def a_story(**task: Any) -> Story:
    return Story(a_forwarded_request(HandClock(), **task))


def test_a_story_begins_with_the_arrival() -> None:
    assert a_story(wants_knowledge=False).told() == {
        "trace": {"proxy_recv_ms": 1_700_000_000_000},
        "kv_ack": {},
        "kv_ready_kids": [],
        "text_only_kids": [],
        "miss_kids": [],
        "error": None,
    }


def test_ids_are_told_by_what_was_found() -> None:
    story = a_story(knowledge_ids=("aa", "bb", "cc"))
    story.found = FOUND
    told = story.told()
    assert (told["kv_ready_kids"], told["text_only_kids"], told["miss_kids"]) == (
        ["aa"], ["bb"], ["cc"],
    )  # fmt: skip


def test_where_nobody_could_say_everything_is_missing() -> None:
    assert a_story(knowledge_ids=("aa", "BB")).told()["miss_kids"] == ["aa", "BB"]
    assert a_story(plain=True).told()["miss_kids"] == []


def test_the_first_thing_that_went_wrong_counts() -> None:
    story = a_story()
    story.fail("prepare_failed: no node")
    story.fail("stream_wrap_failed: too late")
    assert story.told()["error"] == "prepare_failed: no node"


def test_with_another_instance_it_starts_over_and_keeps_what_was_found() -> None:
    story = a_story()
    story.found = FOUND
    story.kv_ack = {"ok": True}
    story.trace.put("kvcache_actual_path", "kv_inject")
    story.fail("prepare_failed: gone")
    story.start_over()
    assert story.trace.values == {"proxy_recv_ms": 1_700_000_000_000}
    assert (story.kv_ack, story.error, story.found) == ({}, None, FOUND)
