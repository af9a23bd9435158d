"""`cacheroute scores`."""

from typing import Any

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies


def a_pool() -> dict[str, Any]:
    pool = replies(an_instance("a", load={"inflight": 4}), an_instance("b", load={"inflight": 2}))
    for load in pool["/debug/instance_loads"]["instances"]:
        value = float(load["inflight"])
        load["least_load_score"] = {
            "total": value, "components": {"inflight": value},
            "weighted_components": {"inflight": value}, "weights": {"inflight": 1.0},
        }  # fmt: skip
    return pool


def test_scores_are_told_with_rank_and_parts(cli: Cli) -> None:
    with a_control_plane(a_pool()) as url:
        said = cli("scores", "--proxy-url", url, "--columns", "rank,id,score,parts")

    assert said.out == "1\tb\t2.00\tinfl 2×1\n2\ta\t4.00\tinfl 4×1\n"


def test_one_score_is_written_out(cli: Cli) -> None:
    with a_control_plane(a_pool()) as url:
        said = cli("scores", "a", "--explain", "--proxy-url", url)

    lines = [line.split() for line in said.out.splitlines()]
    assert lines[0] == ["score", "a", "4.00", "rank", "2"]
    assert lines[1] == ["inflight", "4", "×", "1", "=", "4"]
    assert lines[2] == ["behind", "b:", "infl", "+2"]


def test_explained_scores_are_the_same_document(cli: Cli) -> None:
    with a_control_plane(a_pool()) as url:
        plain = cli("scores", "--proxy-url", url, "-o", "json").document
        explained = cli("scores", "--explain", "--proxy-url", url, "-o", "json").document

    assert plain["items"] == explained["items"]


def test_a_what_if_stands_beside_the_score_and_changes_nothing(cli: Cli) -> None:
    with a_control_plane(a_pool()) as url:
        document = cli(
            "scores", "--what-if", "inflight=0.5", "--proxy-url", url, "-o", "json"
        ).document

    assert [(i["id"], i["score"], i["what_if_score"]) for i in document["items"]] == [
        ("b", 2.0, 1.0),
        ("a", 4.0, 2.0),
    ]


@pytest.mark.parametrize("weight", ["inflight", "inflight=x", "=1", "inflight=-1", "inflight=inf"])
def test_a_weight_that_is_none_is_a_wrong_usage(cli: Cli, weight: str) -> None:
    said = cli("scores", "--what-if", weight)

    assert said.code == Exit.USAGE
    assert "as inflight=0.5" in said.err


def test_a_signal_that_nobody_tells_is_a_wrong_usage(cli: Cli) -> None:
    with a_control_plane(a_pool()) as url:
        said = cli("scores", "--what-if", "inflght=1", "--proxy-url", url)

    assert said.code == Exit.USAGE
    assert "did you mean 'inflight'" in said.err


def test_an_instance_that_is_not_there_is_exit_four(cli: Cli) -> None:
    with a_control_plane(a_pool()) as url:
        assert cli("scores", "c", "--proxy-url", url).code == Exit.NOT_FOUND
