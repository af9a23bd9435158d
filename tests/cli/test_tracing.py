"""One request of a real Proxy, as a document and by a name that it does not know."""

import json

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.main import run
from tests.cli.live_proxy import live_proxy
from tests.cli.schemas.shapes import flaws_of
from tests.support.client import post
from tests.support.openai_shapes import chat


def test_a_request_that_failed_has_a_document_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with live_proxy() as proxy:
        proxy.call(post(proxy.running.service_port, chat(), headers=[("X-Request-Id", "r-1")]))
        capsys.readouterr()
        assert run(["traces", "r-1", "-o", "json", "--proxy-url", proxy.url]) == Exit.OK
        found = json.loads(capsys.readouterr().out)

        assert flaws_of(found) == []
        assert (found["schema"], found["trace"]["request_id"]) == ("cacheroute.trace/1", "r-1")
        assert found["trace"]["outcome"] == "no_instance"
        assert [one["instance_id"] for one in found["trace"]["decisions"]] == [None]


def test_a_name_that_is_not_among_the_last_is_not_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with live_proxy() as proxy:
        assert run(["traces", "r-9", "--proxy-url", proxy.url]) == Exit.NOT_FOUND

    said = capsys.readouterr().err
    assert "there is no request 'r-9' among the last that have ended" in said
    assert "'cacheroute traces' lists them" in said
