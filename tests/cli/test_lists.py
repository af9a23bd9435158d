"""The rows found, in the order, of the columns and no more than asked for."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cacheroute.console.alerts import alerts_of
from cacheroute.console.rows.instances import INSTANCES
from cacheroute.console.rules import RULES
from cacheroute_cli.asking import Found
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, UsageFault
from cacheroute_cli.list_options import Listing, Watching
from cacheroute_cli.lists import Shown, columns_view, remembered_rows
from cacheroute_cli.views import ListView, Look
from tests.cacheroute.console.builders import a_row
from tests.cli.commands.conftest import Cli
from tests.cli.commands.conftest import cli as cli
from tests.cli.commands.conftest import state as state
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies
from tests.cli.schemas.shapes import flaws_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = [a_row("i-2", load={"inflight": 2}), a_row("i-10"), a_row("i-1", load={"inflight": 9})]


def a_view(**options: Any) -> ListView[Any]:
    named = {key: options.pop(key, None) for key in ("name", "label")}
    context = Context(proxy_url="http://h:1", **named)
    listing = Listing(watching=Watching(context=context), **options)
    return Shown(listing, INSTANCES).view(Found(rows=ROWS, notes=["n"]))


def test_without_options_everything_is_shown_as_it_was_found() -> None:
    view = a_view()

    assert [row.id for row in view.rows] == ["i-2", "i-10", "i-1"]
    assert (view.total, view.columns, view.notes) == (3, None, ["n"])
    assert view.content == {"context": None, "proxy_url": "http://h:1"}
    assert view.footer == "3 of 3 Instances  ·  http://h:1"


def test_filter_order_and_limit_come_in_this_order() -> None:
    view = a_view(filter="inflight>0", sort="id", limit=1, name="lab")

    assert [row.id for row in view.rows] == ["i-1"]
    assert view.total == 2
    assert view.footer == "1 of 2 Instances (--limit)  ·  inflight>0  ·  lab"


def test_who_filters_reads_how_many_there_are_beside_those_that_match() -> None:
    none = a_view(filter="inflight>99")
    some = a_view(filter="inflight>0")
    all_ = a_view(filter="  ")

    assert none.footer == "0 of 3 Instances  ·  inflight>99  ·  http://h:1"
    assert some.footer == "2 of 3 Instances  ·  inflight>0  ·  http://h:1"
    assert all_.footer == "3 of 3 Instances  ·  http://h:1"


def test_a_label_stands_for_the_name_of_a_context() -> None:
    assert a_view(name="lab", label="LAB").footer == "3 of 3 Instances  ·  LAB"


def test_columns_are_those_that_were_named() -> None:
    view = a_view(columns="id,gpu")

    assert view.columns is not None
    assert [column.key for column in view.columns] == ["id", "gpu_util"]


@pytest.mark.parametrize(
    ("options", "words", "hint"),
    [
        ({"columns": "id,gpuu"}, "--columns: Instances have no column 'gpuu'", "--columns help"),
        ({"columns": ","}, "--columns names none", "--columns help"),
        ({"sort": "gpuu"}, "--sort: Instances have no column 'gpuu'", "--columns help"),
        ({"sort": "gpu:up"}, "--sort: 'gpu:up': an order is asc or desc, not 'up'", ""),
        ({"filter": "gpuu>1"}, "--filter: Instances have no column 'gpuu'", "--columns help"),
        ({"filter": "gpu>x"}, "--filter: gpu_util>x: 'x' is not a number, at character 5", ""),
    ],
)
def test_what_cannot_be_read_is_said_before_anybody_is_asked(
    options: dict[str, str], words: str, hint: str
) -> None:
    with pytest.raises(UsageFault) as caught:
        a_view(**options)

    assert words in caught.value.message
    assert hint in (caught.value.hint or "")


def test_columns_can_be_listed_with_their_meanings() -> None:
    lines = columns_view(INSTANCES).plain()

    assert len(lines) == len(INSTANCES.columns)
    assert any(line.startswith("gpu_util\t%\tgpu_util gpu\t") for line in lines)


def test_meanings_of_columns_can_be_read_on_a_narrow_terminal() -> None:
    lines = columns_view(INSTANCES).table(Look(width=80, color=False), wide=False)

    [qps] = [line for line in lines if line.startswith("qps_1m")]
    assert qps.endswith("Requests a second over the last minute.")
    assert max(map(len, lines)) <= 80


def test_help_on_columns_asks_nobody(cli: Cli) -> None:
    said = cli("instances", "--columns", "help", "--proxy-url", "127.0.0.1:1")

    assert said.code == Exit.OK
    assert "memory_util" in said.out


def test_common_list_options_may_stand_before_the_command(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        before = cli("--columns", "id", "--headers", "instances", "--proxy-url", url)

    assert before.out == "ID\na\n"


def test_they_are_refused_where_they_mean_nothing(cli: Cli) -> None:
    said = cli("--columns", "id", "proxy", "status")

    assert said.code == Exit.USAGE
    assert "--columns means nothing to this command" in said.err


def test_columns_as_json_are_a_document_like_any_other(cli: Cli) -> None:
    document = cli("instances", "--columns", "help", "-o", "json").document

    assert flaws_of(document) == []


def test_a_watch_remembers_since_when_an_alert_is_there() -> None:
    def found(at: datetime) -> Found[Any]:
        rows = [a_row("a", load={"inflight": 0}), a_row("b", load={"inflight": 9})]
        return Found(rows=alerts_of(rows, rules=RULES, ttl_s=30, now=at), now=at)

    first = remembered_rows(found(NOW), ())
    again = remembered_rows(found(NOW + timedelta(seconds=5)), first)

    assert [alert.since for alert in again] == [NOW]
    assert remembered_rows(Found(rows=ROWS), ()) == ROWS
