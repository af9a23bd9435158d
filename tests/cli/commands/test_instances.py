"""`cacheroute instances` over a published control plane."""

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies

POOL = replies(
    an_instance("busy", load={"inflight": 7}),
    an_instance("free", load={"inflight": 1}),
    an_instance("gone", is_alive=False, last_seen_at=900),
)


def test_alive_instances_are_listed_the_least_loaded_first(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("instances", "--proxy-url", url)

    assert said.code == Exit.OK
    assert said.err == ""
    assert [line.split("\t")[0] for line in said.out.splitlines()] == ["free", "busy"]


def test_all_shows_the_expired_ones_too_with_their_state(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("instances", "--all", "--proxy-url", url, "-o", "table")

    assert said.out.splitlines()[-1].split()[:4] == ["✕", "gone", "127.0.0.1:9001", "dead"]


def test_one_from_the_settings_that_answers_no_probe_is_silent_and_alive_in_the_document(
    cli: Cli,
) -> None:
    pool = replies(an_instance("away", origin="static", age_s=200.0))
    with a_control_plane(pool) as url:
        table = cli("instances", "--proxy-url", url, "-o", "table")
        document = cli("show", "away", "--proxy-url", url, "-o", "json").document
        shown = cli("show", "away", "--proxy-url", url, "-o", "table")

    assert table.out.splitlines()[-1].split()[:4] == ["○", "away", "127.0.0.1:9001", "silent"]
    assert document["instance"]["state"] == "alive"
    assert "○ silent" in shown.out


def test_a_number_limits_what_is_shown_and_the_document_tells_the_total(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("-o", "json", "instances", "1", "--all", "--proxy-url", url)

    document = said.document
    assert document["schema"] == "cacheroute.instances/1"
    assert document["total"] == 3
    assert [item["id"] for item in document["items"]] == ["free"]
    assert document["items"][0]["cpu_util"] is None


def test_options_mean_the_same_before_and_after_the_command(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        before = cli("-o", "json", "--proxy-url", url, "instances").document
        after = cli("instances", "--proxy-url", url, "-o", "json").document

    assert before["items"] == after["items"]


def test_the_proxy_may_be_named_by_the_environment(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_control_plane(POOL) as url:
        monkeypatch.setenv("PROXY_CP_URL", url)

        assert cli("instances").code == Exit.OK


def test_hostile_names_are_shown_and_not_obeyed(cli: Cli) -> None:
    pool = replies(an_instance("[red]x[/red]\x1b[2J\n●", host="h" * 60))
    with a_control_plane(pool) as url:
        said = cli("instances", "--proxy-url", url)

    assert len(said.out.splitlines()) == 1
    assert "[red]x[/red]\\x1b[2J\\n●" in said.out


def test_an_empty_pool_is_a_header_no_line_and_an_empty_list(cli: Cli) -> None:
    with a_control_plane(replies()) as url:
        assert cli("instances", "--proxy-url", url).out == ""
        assert len(cli("instances", "--proxy-url", url, "-o", "table").out.splitlines()) == 1
        assert cli("instances", "--proxy-url", url, "-o", "json").document["items"] == []


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_number_that_is_none_is_a_wrong_usage(cli: Cli, number: str) -> None:
    said = cli("instances", "--", number)

    assert said.code == Exit.USAGE
    assert said.out == ""
    assert "hint: try 'cacheroute instances --help'" in said.err


def test_a_filter_by_state_means_those_that_have_expired_too(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("instances", "-f", "state:dead", "-o", "name", "--proxy-url", url)

    assert said.out == "gone\n"


def test_a_proxy_that_tells_no_loads_has_unknown_scores(cli: Cli) -> None:
    pool = dict(POOL)
    del pool["/debug/instance_loads"]
    with a_control_plane(pool) as url:
        said = cli("instances", "--proxy-url", url, "-o", "json")

    assert said.code == Exit.OK
    assert {item["score"] for item in said.document["items"]} == {None}


def test_the_positional_number_is_the_limit(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        assert cli("instances", "1", "-o", "name", "--proxy-url", url).out == "free\n"
        assert cli("instances", "-n", "1", "-o", "name", "--proxy-url", url).out == "free\n"
