"""An edit changes what it is for, and leaves every other line, comment and order alone."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute_cli.config.toml_edit import (
    CannotEdit,
    with_context,
    with_current,
    without_context,
)

DOTTED = """\
# mine

# the one I use
current_context = "local"  # for now
contexts.local = { proxy_url = "http://h:1" }  # here
contexts.lab   = { proxy_url = "http://h:2", readonly = true }

[tui]
theme = "dark" # easy on the eyes
"""
TABLES = """\
[tui]
mouse = true

# far away
[contexts.local]
proxy_url = "http://h:1"

[contexts.lab]
proxy_url = "http://h:2"
# careful
readonly = true

[keys]
"app.pause" = "p"
"""


def test_the_current_context_is_changed_where_it_stands() -> None:
    changed = with_current(DOTTED, "lab")

    assert changed == DOTTED.replace('"local"  # for now', '"lab"  # for now')


def test_a_current_context_that_was_not_said_is_said_at_the_top() -> None:
    assert with_current(TABLES, "lab") == 'current_context = "lab"\n\n' + TABLES
    assert with_current("", "lab") == 'current_context = "lab"\n'


def test_what_it_is_put_before_keeps_its_comment() -> None:
    text = "# head\n\n# about the screen\n[tui]\nmouse = true\n"

    assert with_current(text, "x") == (
        '# head\n\ncurrent_context = "x"\n\n# about the screen\n[tui]\nmouse = true\n'
    )


def test_a_context_is_added_in_the_manner_of_the_others() -> None:
    values = {"proxy_url": "http://h:3", "readonly": True}

    dotted = with_context(DOTTED, "far", values)
    tables = with_context(TABLES, "far", values)
    grouped = with_context('[contexts]\na = { proxy_url = "http://h:1" }\n', "far", values)

    line = '{ proxy_url = "http://h:3", readonly = true }\n'
    assert dotted == DOTTED.replace("\n\n[tui]", f"\ncontexts.far = {line}\n[tui]")
    assert tables == TABLES + '\n[contexts.far]\nproxy_url = "http://h:3"\nreadonly = true\n'
    assert grouped.endswith(f"\nfar = {line}")


def test_the_first_context_makes_a_table() -> None:
    added = with_context("# mine", "local", {"proxy_url": "http://h:1"})

    assert added == '# mine\n\n[contexts.local]\nproxy_url = "http://h:1"\n'


def test_a_context_is_removed_with_all_it_has_and_nothing_else() -> None:
    without = without_context(DOTTED, "lab")
    assert without == "".join(
        line for line in DOTTED.splitlines(keepends=True) if "contexts.lab" not in line
    )

    assert without_context(TABLES, "lab") == TABLES.replace(
        '[contexts.lab]\nproxy_url = "http://h:2"\n# careful\nreadonly = true\n\n', "# careful\n\n"
    )


def test_who_was_current_and_is_gone_is_not_current_any_more() -> None:
    assert "current_context" not in without_context(DOTTED, "local")
    assert "current_context" in without_context(DOTTED, "lab")


def test_the_last_context_leaves_an_empty_file() -> None:
    text = with_current(with_context("", "a", {"proxy_url": "http://h:1"}), "a")

    assert without_context(text, "a") == ""


def test_beside_two_manners_one_is_chosen_that_has_room() -> None:
    text = '[contexts]\na = { proxy_url = "http://h:1" }\n[contexts.b]\nproxy_url = "http://h:1"\n'

    added = with_context(text, "far", {"proxy_url": "http://h:3"})

    assert list(tomllib.loads(added)["contexts"]) == ["a", "far", "b"]


def test_one_inline_table_has_no_room_for_another_context() -> None:
    with pytest.raises(CannotEdit, match="line 1: contexts is one inline table"):
        with_context('contexts = { a = { proxy_url = "http://h:1" } }\n', "far", {})


def test_a_context_in_one_inline_table_is_left_to_a_person() -> None:
    text = 'contexts = { a = { proxy_url = "http://h:1" }, b = { proxy_url = "http://h:1" } }\n'

    with pytest.raises(CannotEdit, match="a single change would not keep"):
        without_context(text, "a")


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1)


@given(st.sampled_from(["", DOTTED, TABLES]), NAMES, st.booleans())
def test_any_name_is_added_chosen_and_removed_again(text: str, name: str, use: bool) -> None:
    if name in ("local", "lab"):
        return
    values = {"proxy_url": "http://h:9", "label": name}

    added = with_context(text, name, values)
    chosen = with_current(added, name) if use else added

    assert tomllib.loads(chosen)["contexts"][name] == values
    before, after = tomllib.loads(text), tomllib.loads(without_context(chosen, name))
    if use:
        before.pop("current_context", None)
    assert after == before
    comments = [line for line in text.splitlines() if "#" in line]
    assert [line for line in comments if line not in chosen.splitlines()] == (
        ['current_context = "local"  # for now'] if use and text == DOTTED else []
    )
