"""Keys that stand twice, found by name in texts that the standard reader refuses."""

import tomllib

import pytest

from cacheroute_cli.config.toml_twice import Twice, given_twice


def reading(text: str) -> tuple[int, str]:
    """Return the line that the standard reader names, and what it says."""
    with pytest.raises(tomllib.TOMLDecodeError) as raised:
        tomllib.loads(text)
    what, _, where = str(raised.value).rpartition(" (at ")
    line = where.removeprefix("line ").partition(",")[0]
    return int(line) if line.isdigit() else text.count("\n") + 1, what.lower()


@pytest.mark.parametrize(
    ("text", "name", "line", "first"),
    [
        ("a = 1\na = 2\n", "a", 2, 1),
        ("a = 1\n\n# more\nb = 2\n'a' = 3", "a", 5, 1),
        ("a = [\n  1,\n]\na = [\n  2,\n]\nb = 1\n", "a", 4, 1),
        ("t.a = 1\nt.a = 2\n", "t.a", 2, 1),
        ("[t]\na = 1\nb = 2\na = 3\n", "t.a", 4, 2),
        ("[t]\na = 1\n[u]\na = 1\n[t]\nb = 1\n", "t", 5, 1),
        ("t = { a = 1 }\n[t]\nb = 1\n", "t", 2, 1),
        ("t = { a = 1, a = 2 }\n", "t.a", 1, 1),
        ("c.x = { u = 'h' }\nc.x = { u = 'i' }\n", "c.x", 2, 1),
        ("a = 1\na.b = 2\n", "a", 2, 1),
    ],
)
def test_the_key_is_named_with_both_its_places(text: str, name: str, line: int, first: int) -> None:
    assert given_twice(text, *reading(text)) == Twice(name=name, line=line, first=first)


def test_what_cannot_be_told_is_left_to_the_reader() -> None:
    assert given_twice("a = 1\nb = 2\n", 2, "cannot overwrite a value") is None
    assert given_twice("a = { b = 1 }\n", 1, "duplicate inline table key") is None
