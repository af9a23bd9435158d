"""Which rows are wanted, in the words of an operator."""

import time

import pytest

from cacheroute.console.filters import MAX_FILTER_CHARS, FilterProblem, read_filter
from cacheroute.console.rows.instances import INSTANCES, FleetRow
from tests.cacheroute.console.builders import a_row

BUSY = a_row(
    "inst-9007", tags=["demo", "a100"], resource={"gpu_util_avg": 97, "cpu_util": 10.0},
    load={"inflight": 9}, age_s=0.9, models=["meta/llama-3"],
)  # fmt: skip
FREE = a_row("inst-9001", tags=["demo"], resource={"gpu_util_avg": 0}, load={"inflight": 0})
DRAINS = a_row("node-9005", draining=True, load={"inflight": 2}, host="10.0.0.5")
STALE = a_row("inst-9003", is_alive=False, state="stale", age_s=41.0, tags=["b200"])
DEAD = a_row("inst-9010", is_alive=False, state="dead", age_s=123.0)
POOL = [BUSY, FREE, DRAINS, STALE, DEAD]


def found(text: str) -> list[str]:
    return [row.id[-4:] for row in read_filter(text, INSTANCES).of(POOL)]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", ["9007", "9001", "9005", "9003", "9010"]),
        ("  ", ["9007", "9001", "9005", "9003", "9010"]),
        ("INST-900", ["9007", "9001", "9003"]),
        ("10.0.0.5", ["9005"]),
        ("a100", ["9007"]),
        ("/-900[17] /", ["9007", "9001"]),
        ("~i97", ["9007"]),
        ("!inst", ["9005"]),
        ("!/inst/", ["9005"]),
        ("state:stale", ["9003"]),
        ("state:stale,dead", ["9003", "9010"]),
        ("!state:stale,dead", ["9007", "9001", "9005"]),
        ("state:alive", ["9007", "9001", "9005"]),
        ("state:drain", ["9005"]),
        ("state:/^d/", ["9005", "9010"]),
        ("tag:demo", ["9007", "9001"]),
        ("tag:demo gpu>80", ["9007"]),
        ("tag:demo,b200 inst", ["9007", "9001", "9003"]),
        ("tag:demo,age>1m", ["9007", "9001", "9010"]),
        ("gpu>80", ["9007"]),
        ("gpu<=0%", ["9001"]),
        ("!gpu>80", ["9001", "9005", "9003", "9010"]),
        ("gpu:unknown", ["9005", "9003", "9010"]),
        ("age>41s", ["9010"]),
        ("age>=41s", ["9003", "9010"]),
        ("infl>=2 infl<9", ["9005"]),
        ("inflight=9", ["9007"]),
        ("inflight!=9", ["9001", "9005", "9003", "9010"]),
        ("id:*9007", ["9007"]),
        ("model:meta/llama-3", ["9007"]),
        ("draining:yes", ["9005"]),
        ("t-9001,t-9005,e-9005", ["9001", "9005"]),
        ("t-9001,!inst", ["9001", "9005"]),
        ("host~9001", []),
        ('"127.0.0.1:9001"', ["9007", "9001", "9003", "9010"]),
        ('model:"meta/llama-3",x', ["9007"]),
    ],
)
def test_a_filter_finds(text: str, ids: list[str]) -> None:
    assert found(text) == ids


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("gpuu>80", 0, "did you mean 'gpu"),
        ("state:stale gpu>much", 16, "gpu_util>much: 'much' is not a number"),
        ("age>5%", 4, "only ms, s, m, h, d will do"),
        ("/open", 0, "has no closing /"),
        ("x /(/", 2, "is no regular expression"),
        ('state:"stale', 6, "has no closing quote"),
        ("state:", 6, "something is missing"),
        ("a,", 2, "something is missing"),
        ("!", 1, "something is missing"),
        ("localhost:80", 0, "no column 'localhost'"),
        ("id~[", 2, "id~ is no test; id:/…/ matches a pattern"),
        ("inst !GPU~9", 9, "GPU~ is no test"),
        ("id:/[/", 3, "is no regular expression"),
    ],
)
def test_what_is_no_filter_says_where_and_why(text: str, at: int, words: str) -> None:
    with pytest.raises(FilterProblem) as caught:
        read_filter(text, INSTANCES)

    assert caught.value.at == at
    assert words in str(caught.value)
    assert str(caught.value).endswith(f"at character {at + 1}")


def test_a_column_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(FilterProblem) as caught:
        read_filter("gpuu>80", INSTANCES)

    assert caught.value.hint == "'--columns help' lists them"


def test_a_filter_knows_the_columns_it_names() -> None:
    assert read_filter("gpu>80,state:stale word", INSTANCES).keys == {"gpu_util", "state"}


def test_a_slash_inside_a_pattern_may_be_escaped() -> None:
    assert read_filter(r"model:/meta\/llama/", INSTANCES).of(POOL) == [BUSY]


def test_a_filter_is_bounded() -> None:
    with pytest.raises(FilterProblem, match=f"at most {MAX_FILTER_CHARS} characters"):
        read_filter("x" * (MAX_FILTER_CHARS + 1), INSTANCES)


def test_ten_thousand_rows_cost_little_more_than_looking_at_them() -> None:
    rows = POOL * 2_000
    filters = [read_filter(text, INSTANCES) for text in ("state:stale gpu>80 tag:demo", "inst-9")]

    def cpu_s(work: object) -> float:
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            work()  # type: ignore[operator]
            best = min(best, time.process_time() - began)
        return best

    def look_at(rows: list[FleetRow]) -> list[str]:
        return [f"{row.id} {row.address}".lower() for row in rows if row.gpu_util != -1]

    baseline_s = cpu_s(lambda: look_at(rows))
    assert cpu_s(lambda: [one.of(rows) for one in filters]) < 30 * baseline_s


def test_letters_in_order_are_found_without_trying_every_way() -> None:
    slow = a_row("a" * 200)

    assert read_filter("~" + "a" * 200, INSTANCES).of([slow]) == [slow]
    assert read_filter("~" + "a" * 100 + "b", INSTANCES).of([slow]) == []


def test_an_expression_that_looks_around_is_refused_with_its_place_in_the_filter() -> None:
    with pytest.raises(FilterProblem, match="no regular expression: invalid perl operator") as told:
        read_filter("gpu>80 /(?=x)/", INSTANCES)

    assert told.value.at == 7
