"""The options of every list, wherever they are typed."""

from typing import Any

import pytest
import typer

from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.list_options import Listing, Watching, with_listing, with_watching


def listed(*arguments: str, before: Given | None = None, numbered: bool = True) -> Listing:
    seen: list[Listing] = []

    @with_listing(numbered=numbered)
    def command(listing: Listing) -> None:
        seen.append(listing)

    _call(command, arguments, before)
    return seen[0]


def _call(command: Any, arguments: tuple[str, ...], before: Given | None) -> None:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(command)
    typer.main.get_command(app).main(args=list(arguments), standalone_mode=False, obj=before)


def test_a_list_gets_all_that_was_asked_of_it() -> None:
    listing = listed(
        "-s", "gpu:desc", "-f", "state:stale", "--columns", "id", "--no-headers", "-n", "3",
        "-w", "-i", "0.5", "--count", "2", "-o", "csv", "--ascii",
    )  # fmt: skip

    assert (listing.sort, listing.filter, listing.columns) == ("gpu:desc", "state:stale", "id")
    assert (listing.headers, listing.limit) == (False, 3)
    assert listing.watching == Watching(
        context=listing.context, watch=True, interval_s=0.5, count=2
    )
    assert (listing.context.output, listing.context.ascii) == ("csv", True)


def test_without_any_it_is_one_look_at_everything() -> None:
    listing = listed()

    assert listing == Listing(watching=Watching(context=listing.context))


def test_a_number_is_the_limit_and_the_option_outranks_it() -> None:
    assert listed("5").limit == 5
    assert listed("5", "-n", "3").limit == 3
    with pytest.raises(typer.TyperException):
        listed("5", numbered=False)


def test_some_may_stand_before_the_command() -> None:
    before = Given(columns="id", headers=False, watch=True, interval_s=3.0)

    listing = listed("--headers", before=before)

    assert (listing.columns, listing.headers) == ("id", True)
    assert (listing.watching.watch, listing.watching.interval_s) == (True, 3.0)


@pytest.mark.parametrize("interval", ["0.1", "0", "-1", "nan", "inf", "1e300"])
def test_an_interval_that_is_a_flood_or_no_time_is_refused(interval: str) -> None:
    with pytest.raises(UsageFault, match=r"--interval must be at least 0\.2 s"):
        listed("-i", interval)


def test_a_count_of_looks_is_a_watch() -> None:
    assert listed("--count", "2").watching.watch


def test_a_summary_can_be_watched_as_well() -> None:
    seen: list[Watching] = []

    @with_watching
    def command(watching: Watching) -> None:
        seen.append(watching)

    _call(command, ("-w", "--count", "3"), None)

    assert (seen[0].watch, seen[0].count, seen[0].interval_s) == (True, 3, 1.0)
