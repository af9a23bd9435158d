"""Every document has a described shape, and a real Proxy's documents have that shape."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from cacheroute.client.control import ControlClient
from cacheroute.console.kinds import KINDS
from cacheroute.wire.topology import TopologyReportBody
from cacheroute_cli.demo_fleet import DemoFleet, Fleet
from cacheroute_cli.main import run
from cacheroute_cli.supervisor.stack import Stack
from tests.architecture.sources import ROOT, sources
from tests.cli.schemas.shapes import described, flaws_of, path_of

_NAMED = re.compile(r'"(cacheroute(?:\.[a-z_]+)+/[0-9]+)"')
LISTS = [*(name for name in KINDS if name != "ps"), "explain"]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A Proxy of ours with two demo Instances, a request behind it and a link reported."""
    with Stack(tethered=True) as stack:
        up = DemoFleet(stack, tmp_path_factory.mktemp("fleet"), instances=2, speed=50.0).up(
            "least_load"
        )
        body = {"model": "demo-8b", "max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}
        httpx.post(f"{up.service_url}/v1/chat/completions", json=body).raise_for_status()
        with ControlClient(up.control_url) as client:
            link = {"bandwidth_mbps": 820.0, "latency_ms": 1.9, "iface": "eth0"}
            report = {"instance_id": "demo-1", "links": {"kdn-1": link}}
            assert client.report_topology(TopologyReportBody.model_validate(report)).ok
            _until_reported(client)
        yield up


def _until_reported(client: ControlClient) -> None:
    deadline_s = time.monotonic() + 20
    while client.resources().instances[0].resource.resource_reported_at is None:
        assert time.monotonic() < deadline_s, "no resource report came"
        time.sleep(0.02)


def documents(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(arguments) == 0, capsys.readouterr().err
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("form", ["json", "jsonl"])
@pytest.mark.parametrize("watch", [False, True])
@pytest.mark.parametrize("name", LISTS)
def test_every_list_of_a_real_proxy_is_as_described(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], name: str, form: str, watch: bool
) -> None:
    if watch and name == "explain":
        return
    more = ["--count", "2", "-i", "0.2"] if watch else []
    found = documents(capsys, name, "-o", form, "--proxy-url", fleet.control_url, *more)

    assert [flaw for document in found for flaw in flaws_of(document)] == []
    if form == "json":
        assert len(found) == (2 if watch else 1)
        assert found[0]["items"] or name == "alerts"


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("status", "--count", "2", "-i", "0.2"),
        ("watch", "--count", "2", "-i", "0.2"),
        ("show", "demo-1"),
        ("scores", "demo-1", "--explain", "--what-if", "inflight=2"),
    ],
)
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_every_other_document_of_a_real_proxy_is_as_described(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], form: str
) -> None:
    found = documents(capsys, *arguments, "-o", form, "--proxy-url", fleet.control_url)

    assert found
    assert [flaw for document in found for flaw in flaws_of(document)] == []


def test_every_document_that_is_named_anywhere_is_described() -> None:
    named = {
        schema
        for folder in (ROOT / "cli" / "cacheroute_cli", ROOT / "cacheroute" / "console")
        for source in sources(folder)
        for schema in _NAMED.findall(source.path.read_text("utf-8"))
    }
    for kind in KINDS.values():
        named |= {kind.schema, kind.row_schema}

    assert sorted(named - described()) == []


def test_every_description_is_of_a_document_that_has_a_name_and_a_time() -> None:
    for schema in described():
        shape = json.loads(path_of(schema).read_text("utf-8"))
        # A line of a log has the time it was written at.
        assert (shape["schema"], shape.get("generated_at", shape.get("time"))) == (
            "text",
            "instant",
        )


def test_a_document_that_differs_is_found_out() -> None:
    row = {"schema": "cacheroute.explain.row/1", "generated_at": "2026-01-01T00:00:00.000Z"}
    whole = {
        "term": "t", "of": "x", "meaning": "m", "unit": None, "source": None, "unknown": None,
        "names": ["t"],
    }  # fmt: skip

    assert flaws_of({**row, **whole}) == []
    assert flaws_of({**row, **whole, "tick": 1}) == []
    assert flaws_of({**row, **whole, "names": [1]}) == ["it.names[0] is 1, not text"]
    assert flaws_of({**row, **whole, "more": 1}) == ["it.more is not described"]
    assert flaws_of({**row, **whole, "term": None}) == ["it.term is None, not text"]
    assert flaws_of({**row, "schema": "cacheroute.none/1"}) == [
        "cacheroute.none/1 is described nowhere"
    ]
