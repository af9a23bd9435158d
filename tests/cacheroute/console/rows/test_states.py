"""One word, one sign and one colour for how an Instance is."""

from typing import get_args

import pytest

from cacheroute.console.rows.states import (
    RANKS,
    SIGNS,
    TONES,
    Liveness,
    Shown,
    liveness_of,
    shown_state,
)


def test_every_state_has_a_sign_of_one_cell_a_colour_and_a_rank() -> None:
    states = set(get_args(Shown))

    assert set(SIGNS) == set(TONES) == set(RANKS) == states
    assert all(len(sign) == 1 for sign in SIGNS.values())
    assert len(set(SIGNS.values())) == len(states)


@pytest.mark.parametrize(
    ("is_alive", "said", "age_s", "state"),
    [
        (True, "dead", 1e9, "alive"),
        (False, "stale", 1e9, "stale"),
        (False, "dead", 1.0, "dead"),
        (False, None, 90.0, "stale"),
        (False, None, 91.0, "dead"),
        (False, None, None, "dead"),
    ],
)
def test_what_the_proxy_says_outranks_what_silence_tells(
    is_alive: bool, said: str | None, age_s: float | None, state: Liveness
) -> None:
    assert liveness_of(is_alive=is_alive, said=said, age_s=age_s, ttl_s=30) == state


def test_only_one_that_is_alive_drains_or_rests() -> None:
    assert shown_state("alive", draining=True, ejected_for_s=3) == "drain"
    assert shown_state("alive", draining=False, ejected_for_s=3) == "ejected"
    assert shown_state("stale", draining=True, ejected_for_s=3) == "stale"
