"""One Instance from every side."""

import pytest

from cacheroute_cli.context import Context
from cacheroute_cli.detail import show_instance
from cacheroute_cli.faults import NoSuchInstance
from cacheroute_cli.list_options import Watching
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies


def test_queues_have_a_line_where_something_queues(capsys: pytest.CaptureFixture[str]) -> None:
    pool = our_replies(an_instance("a", models=["m"], endpoints=["chat/completions"]))
    pool["/debug/instance_loads"]["instances"][0] |= {
        "prepare_queue_depth": 1, "active_prepare": 2, "ready_queue_depth": 3, "active_ready": 4,
        "next_slot_ready_in_ms": 920.0,
    }  # fmt: skip
    with a_control_plane(pool) as url:
        show_instance(Watching(context=Context(proxy_url=url)), "a", raw=False)

    lines = {line[:10].strip(): line[10:] for line in capsys.readouterr().out.splitlines()}
    assert lines["queues"].startswith(
        "prepare 1+2  ready 3+4  prefill —  decode —  next slot in 0.9s"
    )
    assert lines["models"] == "m"
    assert lines["paths"] == "chat/completions"
    assert lines["links"] == "kdn-1  820 Mbps  1.9 ms  best"


def test_what_is_wrong_with_it_stands_on_top(capsys: pytest.CaptureFixture[str]) -> None:
    pool = our_replies(an_instance("a", resource={"gpu_util_avg": 97}))
    with a_control_plane(pool) as url:
        show_instance(Watching(context=Context(proxy_url=url)), "a", raw=False)

    assert "alerts    a GPU use 97%" in capsys.readouterr().out


def test_one_that_is_not_there_is_a_fault() -> None:
    with a_control_plane(our_replies(an_instance("a"))) as url:
        for raw in (True, False):
            with pytest.raises(NoSuchInstance):
                show_instance(Watching(context=Context(proxy_url=url)), "b", raw=raw)
