"""The help and the meaning of words, made of the registries."""

import pytest

from cacheroute_tui.app import SCREENS, ConsoleApp
from cacheroute_tui.keymap import MOVING
from cacheroute_tui.reading import explained_lines, help_lines
from cacheroute_tui.widgets.lines import TextLine
from tests.tui.showing import console, shown


def text(lines: list[TextLine]) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines)


async def help_of(app: ConsoleApp) -> str:
    assert app.front is not None
    return text(help_lines(app.front))


@pytest.mark.parametrize("name", [one.NAME for one in SCREENS])
async def test_the_help_of_a_screen_has_every_key_it_has(name: str) -> None:
    app = console(screen=name, write=True)
    async with shown(app):
        told = " ".join((await help_of(app)).split())
        assert app.front is not None
        for key in app.front.every_key():
            if not key.id.startswith("screen."):
                assert " ".join(key.doc.split()[:4]) in told, key.id
                assert app.shown_key(key) in told, key.id


async def test_the_keys_of_rows_are_told_where_there_are_rows() -> None:
    app = console(screen="instances")
    async with shown(app):
        told = await help_of(app)

    for key in MOVING:
        assert key.doc in told


async def test_a_read_only_console_says_what_is_off_and_how_to_get_it() -> None:
    app = console(screen="instances")
    async with shown(app):
        told = " ".join((await help_of(app)).split())

    assert "start with --write to change" in told


def test_a_word_is_explained_with_its_unit_source_and_unknown() -> None:
    told = text(explained_lines(["gpu_util"], of="instances"))

    assert told.splitlines()[0] == "gpu_util  of instances  in %"
    assert "unknown: " in told
    assert "it is not 0" in " ".join(told.split())


def test_of_several_senses_the_one_of_the_list_is_told() -> None:
    told = text(explained_lines(["id"], of="instances"))

    assert told.count("id  of ") == 1


def test_what_nobody_knows_is_left_out() -> None:
    assert text(explained_lines(["no-such-word"])) == "there is nothing here to explain"
    assert "Name of the Instance." in text(explained_lines(["no-such-word", "id"]))
