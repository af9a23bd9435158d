"""Keys as data: no two collide, all are explained, and none takes what terminals need."""

import pytest

from cacheroute.console.keys import KEYS, remapped
from cacheroute.console.keys import SCREENS as KEYS_OF_SCREENS
from cacheroute_tui.app import SCREENS
from cacheroute_tui.keymap import COMMON, MOVING, Key, KeyConflict, bindings, in_footer
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.screens.instance import InstanceDetail

ALL_SCREENS = (*SCREENS, InstanceDetail)
_NOT_OURS = ("ctrl+a", "ctrl+b", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+s", "ctrl+q")


@pytest.mark.parametrize("screen", ALL_SCREENS, ids=lambda screen: screen.NAME)
def test_every_screen_has_bindings_without_a_conflict(screen: type[ConsoleScreen]) -> None:
    keys = screen.every_key()

    assert len(bindings(keys)) == len(keys)


@pytest.mark.parametrize("screen", ALL_SCREENS, ids=lambda screen: screen.NAME)
def test_every_key_is_explained_and_leaves_the_terminal_its_own(
    screen: type[ConsoleScreen],
) -> None:
    for key in (*screen.every_key(), *MOVING):
        assert key.doc.endswith("."), key.id
        assert "alt" not in key.keys
        for name in key.keys.split(","):
            assert name not in (*_NOT_OURS, "f10", "f11"), key.id


@pytest.mark.parametrize("screen", ALL_SCREENS, ids=lambda screen: screen.NAME)
def test_quit_by_two_ways_is_on_every_screen(screen: type[ConsoleScreen]) -> None:
    of_quit = {key.keys for key in screen.every_key() if key.id in ("quit", "quit.now")}

    assert of_quit == {"q", "ctrl+c"}


@pytest.mark.parametrize("screen", ALL_SCREENS, ids=lambda screen: screen.NAME)
def test_the_shared_table_has_the_keys_of_each_screen(screen: type[ConsoleScreen]) -> None:
    named = {key for part in KEYS_OF_SCREENS[screen.NAME] for key in part}
    own = {key.id for key in screen.KEYS}

    # What a screen leaves out of the shared parts is covered by a key of its own.
    assert own <= named
    covered = {name for key in screen.KEYS for name in key.keys.split(",")}
    assert all(covered & set(KEYS[key].split(",")) for key in named - own)
    assert all(key.keys == KEYS[key.id] for key in (*screen.every_key(), *MOVING))


def test_the_keys_as_they_are_are_no_conflict() -> None:
    assert remapped(KEYS).problems == ()


def test_two_keys_of_the_same_name_are_an_error() -> None:
    one = Key(id="a", keys="x,y", label="", action="a", doc="A.")
    other = Key(id="b", keys="y", label="", action="b", doc="B.")

    with pytest.raises(KeyConflict, match="'y' is both 'a' and 'b'"):
        bindings((one, other))
    with pytest.raises(KeyConflict, match="two keys have the id 'a'"):
        bindings((one, one))


def test_a_screens_own_key_outranks_a_common_one() -> None:
    class Odd(ConsoleScreen):
        NAME = "odd"
        KEYS = (Key(id="odd.theme", keys="t", label="Turn", action="turn", doc="Turn."),)

    by_key = {name: key.id for key in Odd.every_key() for name in key.keys.split(",")}

    assert by_key["t"] == "odd.theme"


def test_the_footer_shows_the_first_ranks_and_no_change_in_a_read_only_console() -> None:
    drain = Key(id="d", keys="d", label="Drain", action="drain", doc="D.", rank=1, writes=True)
    hidden = Key(id="h", keys="h", label="Hidden", action="h", doc="H.")
    shown = in_footer((hidden, *COMMON, drain), may_write=False)

    assert drain not in shown
    assert hidden not in shown
    assert drain in in_footer((drain,), may_write=True)


def test_keys_are_written_as_people_know_them() -> None:
    by_id = {key.id: key.display for key in (*COMMON, *MOVING)}

    assert by_id["help"] == "?"
    assert by_id["faster"] == "+-"
    assert by_id["row.down"] == "↓/j"
