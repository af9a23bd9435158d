"""The table of keys, and remappings of it: what holds, and what is said of the rest."""

import pytest

from cacheroute.console.keys import EVERYWHERE, KEYS, SCREENS, remapped


def problems(**said: str) -> list[tuple[str, str]]:
    """Return what is wrong with a remapping, with `__` for a dot."""
    found = remapped({name.replace("__", "."): key for name, key in said.items()})
    return [(one.id, one.why) for one in found.problems]


def test_keys_that_are_free_hold() -> None:
    found = remapped({"pause": "Z", "screen.1": "f1", "app.refresh": "F"})

    assert found.keys == {"pause": "Z", "screen.1": "f1", "refresh": "F"}
    assert found.problems == ()


def test_an_id_that_is_not_known_is_said_with_the_nearest() -> None:
    assert problems(thme="T") == [("thme", "is not known; did you mean theme?")]
    assert problems(app__pase="T") == [("app.pase", "is not known; did you mean pause?")]
    [(_, why)] = problems(xyzzy="T")
    assert why == "is not known; the help of a screen (?) lists its keys"


def test_a_key_that_another_action_keeps_is_a_conflict() -> None:
    found = remapped({"pause": "q", "theme": "T"})

    assert found.keys == {"theme": "T"}
    assert [(one.id, one.why) for one in found.problems] == [("pause", "is 'q', and so is quit")]


def test_of_two_actions_on_one_key_the_first_has_it() -> None:
    found = remapped({"pause": "Z", "theme": "Z"})

    assert found.keys == {"pause": "Z"}
    assert [one.why for one in found.problems] == ["is 'Z', and so is pause"]


def test_two_keys_can_be_swapped() -> None:
    assert problems(pause="q", quit="p") == []


def test_a_key_is_a_conflict_only_on_a_screen_that_has_both() -> None:
    # The one is of the raw screen, the other of the scores.
    assert problems(raw__wrap="f2", scores__what_if="f2") == []
    assert problems(theme="v") == [("theme", "is 'v', and so is resources.charts")]


def test_a_key_may_be_written_as_its_sign() -> None:
    assert problems(pause="?") == [("pause", "is '?', and so is help")]


def test_the_same_action_twice_is_said() -> None:
    found = remapped({"pause": "Z", "app.pause": "P"})

    assert [(one.id, one.why) for one in found.problems] == [("app.pause", "is pause once more")]


@pytest.mark.parametrize("screen", SCREENS)
def test_no_screen_has_two_own_actions_on_one_key(screen: str) -> None:
    own = list(SCREENS[screen][-1].values())

    assert len(own) == len(set(own))


def test_every_id_stands_once_in_the_whole_table() -> None:
    assert set(EVERYWHERE) <= set(KEYS)
    assert remapped({}).keys == {}
