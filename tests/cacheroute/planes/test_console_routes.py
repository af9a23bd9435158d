"""The console's endpoints: what they take, what they refuse, and when they say nothing."""

import httpx
import pytest

from cacheroute.planes.console_routes import revision_of
from cacheroute.runtime.request_log import RequestRecord
from cacheroute.wire import paths
from tests.cacheroute.core.pool_builders import an_instance, joined
from tests.cacheroute.planes.control_parts import Owner, a_request


@pytest.fixture
def pooled(owner: Owner) -> Owner:
    joined(owner.pool, an_instance("a"), owner.clock.now())
    return owner


def a_record(request_id: str) -> RequestRecord:
    return RequestRecord.turned_away(
        at=1.0,
        request_id=request_id,
        endpoint="chat/completions",
        caller="native",
        status=400,
        outcome="bad_request",
        bytes_in=0,
        error="no",
    )


async def test_nothing_new_is_304_for_a_cache_and_a_few_bytes_for_a_console(
    pooled: Owner, client: httpx.AsyncClient
) -> None:
    first = await client.get(paths.CONSOLE_SNAPSHOT)
    tag, rev = first.headers["etag"], first.json()["rev"]

    cached = await client.get(paths.CONSOLE_SNAPSHOT, headers={"if-none-match": tag})
    polled = await client.get(paths.CONSOLE_SNAPSHOT, params={"since": rev})

    assert tag == f'W/"{rev}"'
    assert (cached.status_code, cached.content, cached.headers["etag"]) == (304, b"", tag)
    assert polled.json()["unchanged"] is True
    assert len(polled.content) < 400

    pooled.pool.members["a"].inflight = 2
    news = await client.get(paths.CONSOLE_SNAPSHOT, headers={"if-none-match": tag})
    assert news.json()["instances"]["inflight"] == 2


@pytest.mark.parametrize("query", ["since=-1", "since=x", "who=1.5"])
async def test_a_revision_is_a_whole_number(client: httpx.AsyncClient, query: str) -> None:
    assert (await client.get(f"{paths.CONSOLE_SNAPSHOT}?{query}")).status_code == 422


@pytest.mark.parametrize(
    ("etag", "rev"), [('W/"12"', 12), ('"12"', 12), ("*", None), ('W/"a"', None), ("", None)]
)
def test_a_tag_of_somebody_else_is_no_revision(etag: str, rev: int | None) -> None:
    assert revision_of(etag) == rev


async def test_one_instance_has_a_page_and_an_unknown_one_a_404(
    pooled: Owner, client: httpx.AsyncClient
) -> None:
    page = await client.get(paths.CONSOLE_INSTANCE, params={"id": "a"})
    unknown = await client.get(paths.CONSOLE_INSTANCE, params={"id": "b"})

    assert page.json()["instance"]["instance_id"] == "a"
    assert (unknown.status_code, unknown.json()["error"]) == (404, "unknown_instance")
    assert (await client.get(paths.CONSOLE_INSTANCE)).status_code == 422


async def test_requests_are_told_newest_first_from_a_number_on_or_by_name(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    for number in range(1, 6):
        owner.traces.add(a_record(f"r-{number}"))
    owner.decisions.add(a_request("r-2"), 1, "round_robin", None, "Nobody.")

    newest = (await client.get(paths.DEBUG_TRACES, params={"last": 2})).json()
    since = (await client.get(paths.DEBUG_TRACES, params={"since": 3})).json()
    one = (await client.get(paths.DEBUG_TRACES, params={"request_id": "r-2"})).json()
    unknown = await client.get(paths.DEBUG_TRACES, params={"request_id": "r-9"})

    assert [row["seq"] for row in newest["traces"]] == [5, 4]
    assert (newest["total"], newest["missed"]) == (5, 0)
    assert [row["seq"] for row in since["traces"]] == [5, 4]
    assert [row["request_id"] for row in one["traces"]] == ["r-2"]
    assert one["traces"][0]["decisions"][0]["reason"] == "Nobody."
    assert (unknown.status_code, unknown.json()["error"]) == (404, "unknown_request")


async def test_decisions_are_told_from_a_number_on_with_how_many_were_missed(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    for number in range(1, 31):
        owner.decisions.add(a_request(f"r-{number}"), 1, "round_robin", None, "Nobody.")

    async def seqs(**params: int) -> tuple[list[int], int]:
        page = (await client.get(paths.DEBUG_DECISIONS, params=params)).json()
        return [row["seq"] for row in page["decisions"]], page["missed"]

    assert await seqs() == (list(range(30, 10, -1)), 0)
    assert await seqs(since=27) == ([30, 29, 28], 0)
    assert await seqs(since=27, last=2) == ([30, 29], 1)
    assert await seqs(since=30) == ([], 0)
    # The Proxy has started anew: all that it has is new.
    assert await seqs(since=900, last=2) == ([30, 29], 28)
