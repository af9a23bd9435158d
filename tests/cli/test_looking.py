"""Once or again and again, and what a Proxy that is gone for a while does to it."""

import json
from typing import Any

import pytest

from cacheroute.client.control import ControlClient
from cacheroute.client.faults import Unreachable
from cacheroute.console.lines import Line
from cacheroute_cli import looking
from cacheroute_cli.context import Context, Format
from cacheroute_cli.control import ProxyUnreachable
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.list_options import Watching
from cacheroute_cli.looking import look, print_view
from cacheroute_cli.output import ReaderGone
from cacheroute_cli.views import LinesView


def a_view(number: int = 1) -> LinesView:
    line = Line(label="look", facts=(f"{number}",))
    return LinesView(lines=[line], schema="cacheroute.x/1", content={"number": number})


def watching(count: int, output: Format | None = None) -> Watching:
    context = Context(output=output, proxy_url="http://127.0.0.1:1")
    return Watching(context=context, watch=True, interval_s=0.0, count=count)


class Source:
    """Gives what it was told to, one after the other; a fault is raised."""

    def __init__(self, *looks: int | Exception) -> None:
        self._looks = iter(looks)

    def __call__(self, client: ControlClient) -> LinesView:
        found = next(self._looks)
        if isinstance(found, Exception):
            raise found
        return a_view(found)


GONE = Unreachable(url="http://127.0.0.1:1/x", cause="connection refused")


def test_one_look_is_printed_and_returned(capsys: pytest.CaptureFixture[str]) -> None:
    view = look(Watching(context=Context()), Source(7))

    assert view.content == {"number": 7}
    assert capsys.readouterr().out == "look      7\n"


def test_a_watch_in_a_pipe_is_json_by_lines(capsys: pytest.CaptureFixture[str]) -> None:
    look(watching(3), Source(1, 2, 3))

    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(d["schema"], d["tick"], d["number"]) for d in documents] == [
        ("cacheroute.x/1", tick, tick) for tick in (1, 2, 3)
    ]


def test_a_watch_of_plain_lines_goes_on_below(capsys: pytest.CaptureFixture[str]) -> None:
    look(watching(2, "plain"), Source(1, 2))

    assert capsys.readouterr().out == "look      1\nlook      2\n"


def test_a_proxy_that_comes_back_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    look(watching(4), Source(1, GONE, GONE, 4))

    ticks = [json.loads(line)["tick"] for line in capsys.readouterr().out.splitlines()]
    assert ticks == [1, 4]


def test_a_proxy_that_was_never_there_ends_it() -> None:
    with pytest.raises(ProxyUnreachable):
        look(watching(4), Source(GONE))


def test_a_watch_that_ends_while_it_is_gone_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ProxyUnreachable):
        look(watching(2), Source(1, GONE))

    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_form_that_a_view_does_not_have_is_a_wrong_usage() -> None:
    with pytest.raises(UsageFault, match="there is no name of this"):
        print_view(Context(), a_view(), "name")
    with pytest.raises(UsageFault, match="there is no csv of this"):
        look(watching(2, "csv"), Source(1, 2))


def test_the_usual_form_of_a_command_outranks_what_suits_stdout(
    capsys: pytest.CaptureFixture[str],
) -> None:
    look(Watching(context=Context()), Source(1), usual="json")

    assert json.loads(capsys.readouterr().out)["number"] == 1


def test_a_thousand_lines_of_a_watch_can_be_read_one_by_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    look(watching(1_000), Source(*range(1_000)))

    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["tick"] for line in lines] == list(range(1, 1_001))


def test_a_reader_that_leaves_ends_a_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any, **__: Any) -> None:
        raise ReaderGone

    monkeypatch.setattr(looking, "print_rows", gone)
    with pytest.raises(ReaderGone):
        look(watching(2), Source(1, 2))
