"""What the console cannot use of a configuration is named with its place, and stops no command."""

import pytest

from cacheroute_cli.config.doubts import doubts, first_few, require_screen_interval
from cacheroute_cli.config.load import BadConfig, load
from cacheroute_cli.config.store import doubts_in
from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import UsageFault
from tests.cli.config.conftest import Home

DOUBTFUL = """\
[tui]
interval = 30
columns = ["id", "sate"]
[keys]
thme = "T"
pause = "q"
"""


def test_each_doubt_has_its_place_and_what_may_have_been_meant(home: Home) -> None:
    file = home.write(DOUBTFUL)

    loaded = load(Given(), home.environ, home.here)

    assert doubts(loaded.in_force.values) == [
        f"{file}:2: tui.interval is 30, and the console looks every 0.5 to 10 s",
        f"{file}:3: tui.columns: Instances have no column 'sate'; did you mean state?",
        f"{file}:5: keys.thme is not known; did you mean theme?",
        f"{file}:6: keys.pause is 'q', and so is quit",
    ]
    assert doubts_in(DOUBTFUL, file) == doubts(loaded.in_force.values)


def test_commands_go_on_with_them_and_a_check_does_not(home: Home) -> None:
    home.write(DOUBTFUL)
    loaded = load(Given(), home.environ, home.here)

    assert loaded.required().values["tui.interval"].value == 30
    with pytest.raises(BadConfig, match=r"keys\.thme is not known"):
        loaded.require_good()


def test_two_files_can_give_two_actions_one_key(home: Home) -> None:
    home.write('[keys]\npause = "Z"\n')
    home.system.parent.mkdir(parents=True)
    home.system.write_text('[keys]\ntheme = "Z"\n', encoding="utf-8")

    [doubt] = doubts(load(Given(), home.environ, home.here).in_force.values)

    assert doubt == f"{home.system}:2: keys.theme is 'Z', and so is pause"


def test_what_was_typed_for_a_watch_is_no_doubt(home: Home) -> None:
    held = load(Given(interval_s=60), home.environ, home.here).in_force

    assert doubts(held.values) == []


def test_a_good_configuration_has_none(home: Home) -> None:
    home.write('[tui]\ncolumns = ["id", "trend", "gpu"]\n[keys]\n"app.pause" = "Z"\n')

    assert doubts(load(Given(), home.environ, home.here).in_force.values) == []


@pytest.mark.parametrize("interval_s", [0, 0.49, 10.5, -1, float("nan")])
def test_an_interval_that_the_console_cannot_keep_is_refused_with_the_range(
    interval_s: float,
) -> None:
    with pytest.raises(UsageFault, match=r"--interval must be between 0\.5 and 10 s, not"):
        require_screen_interval(interval_s)


def test_a_corner_of_a_screen_has_room_for_a_few() -> None:
    assert first_few(["a", "b"]) == "a\nb"
    assert first_few(["a", "b", "c", "d", "e"]).splitlines() == [
        "a", "b", "c", "… and 2 more: 'cacheroute config validate' names all",
    ]  # fmt: skip
