"""Keys that act on every screen: all told in help, and those that change something marked."""

from cacheroute_tui.app import SCREENS
from cacheroute_tui.keymap import in_footer
from cacheroute_tui.operating_keys import OPERATING_KEYS


def test_every_screen_has_them_or_keys_of_its_own_in_their_place() -> None:
    for screen in SCREENS:
        names = {name for key in screen.every_key() for name in key.keys.split(",")}
        assert {name for key in OPERATING_KEYS for name in key.keys.split(",")} <= names


def test_what_changes_something_is_not_in_the_footer_of_a_console_that_only_looks() -> None:
    shown = in_footer(OPERATING_KEYS, may_write=False)

    assert [key.id for key in shown] == ["command", "copy.id"]
    assert {key.id for key in OPERATING_KEYS if key.writes} == {"drain", "undrain"}


def test_actions_are_those_of_the_app() -> None:
    assert all(key.action.startswith("app.") for key in OPERATING_KEYS)
