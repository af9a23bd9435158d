"""What makes `status --check` end with 6."""

from dataclasses import replace
from typing import Any

import pytest

from cacheroute.console.overview import Overview, overview_of
from cacheroute.wire.debug import StatusReply
from cacheroute_cli.checking import CheckFailed, require, status_view
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.views import Look


def an_overview(**changes: Any) -> Overview:
    status = StatusReply(
        ok=True, ttl_s=30, alive_instances=1, total_instances=1, expired_instances=0
    )
    whole = overview_of(status=status, pool=None, rows=[], loads=None, proxy_url="http://h")
    return replace(whole, **{"alive": 1, "admission_state": "accepting", **changes})


def test_a_pool_that_is_fine_passes() -> None:
    require("healthy", an_overview(admission_state="rejecting"))
    require("accepting", an_overview())


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"alive": 0}, "no Instance is alive"),
        ({"draining": True}, "the Proxy is draining"),
        ({"admission_state": None}, "the pool is unknown"),
        (
            {"admission_state": "degraded", "admission_reason": "Of 1 alive: 1 degraded."},
            "the pool is degraded (Of 1 alive: 1 degraded.)",
        ),
    ],
)
def test_what_is_not_so_says_why_and_ends_with_six(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(CheckFailed) as caught:
        require("accepting", an_overview(**changes))

    assert caught.value.exit == Exit.BAD_ANSWER
    assert caught.value.message == f"not accepting: {why}"


@pytest.mark.parametrize(
    ("modes", "rows"),
    [
        (
            {"strategy": "round_robin"},
            ["proxy     hp_127.0.0.1:58001  127.0.0.1:58002  up 23h59m  round_robin  ttl 30 s"],
        ),
        (
            {"strategy": "least_load", "injection_strategy": "iws"},
            [
                "proxy     hp_127.0.0.1:58001  127.0.0.1:58002  up 23h59m",
                "          least_load · iws  ttl 30 s",
            ],
        ),
    ],
)
def test_the_first_line_fits_a_narrow_terminal_or_breaks_before_the_strategies(
    modes: dict[str, str], rows: list[str]
) -> None:
    overview = an_overview(
        proxy_id="hp_127.0.0.1:58001",
        proxy_url="http://127.0.0.1:58002",
        uptime_s=86_399.0,
        **modes,
    )

    shown = status_view(overview, Context(), []).table(Look(width=80, color=False), wide=False)

    assert shown[: len(rows)] == rows
    assert shown[len(rows)].startswith("pool ")


def test_what_is_printed_is_lines_and_the_value_behind_them() -> None:
    overview = an_overview()
    view = status_view(overview, Context(name="lab"), ["a note"])

    assert view.document() == ("cacheroute.status/1", {"context": "lab", "status": overview})
    assert view.lines[0].label == "proxy"
    assert view.notes == ["a note"]
