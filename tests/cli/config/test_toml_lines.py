"""Every statement of a TOML text is found, with its line and exactly its value."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute_cli.config.toml_lines import line_of, statements

TEXT = '''\
# a comment with [brackets] and x = 1
current_context = "local" # and one behind

contexts.local = { proxy_url = "http://h:1", readonly = false }
"a.b".'c d' = 'x # no comment'
columns = [
  "id",  # one = two
  "sta]te",
]
long = """
current_context = "no"
"""

[tui]
  theme = "dark"
[contexts."x.y"]
proxy_url = "http://h:2"
[[many]]
a = 1
'''


def test_each_statement_has_its_path_and_its_line() -> None:
    assert [(s.path, s.line, s.is_header) for s in statements(TEXT)] == [
        (("current_context",), 2, False),
        (("contexts", "local"), 4, False),
        (("a.b", "c d"), 5, False),
        (("columns",), 6, False),
        (("long",), 10, False),
        (("tui",), 14, True),
        (("tui", "theme"), 15, False),
        (("contexts", "x.y"), 16, True),
        (("contexts", "x.y", "proxy_url"), 17, False),
        (("many",), 18, True),
        (("many", "a"), 19, False),
    ]


def test_a_value_is_cut_out_exactly() -> None:
    values = [TEXT[slice(*s.value)] for s in statements(TEXT) if s.value]

    assert values[0] == '"local"'
    assert values[1] == '{ proxy_url = "http://h:1", readonly = false }'
    assert values[2] == "'x # no comment'"
    assert tomllib.loads(f"x = {values[3]}")["x"] == ["id", "sta]te"]
    assert tomllib.loads(f"x = {values[4]}")["x"] == 'current_context = "no"\n'


def test_the_lines_of_all_statements_together_leave_only_blanks_and_comments() -> None:
    rest = TEXT
    for statement in reversed(list(statements(TEXT))):
        rest = rest[: statement.start] + rest[statement.end :]

    assert [line for line in rest.splitlines() if line and not line.startswith("#")] == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("current_context",), 2),
        (("contexts", "local"), 4),
        (("contexts", "local", "readonly"), 4),
        (("contexts", "x.y", "proxy_url"), 17),
        (("contexts", "x.y", "gone"), 16),
        (("contexts",), 4),
        (("nothing",), None),
    ],
)
def test_a_key_has_the_line_of_the_nearest_thing_that_has_one(
    path: tuple[str, ...], line: int | None
) -> None:
    assert line_of(list(statements(TEXT)), path) == line


@pytest.mark.parametrize("text", ["", "\n", "# only\n", "a=1", "\r\n# x\r\na = 1\r\n"])
def test_texts_with_little_in_them_are_read_too(text: str) -> None:
    assert len(list(statements(text))) == text.count("=")


VALUES = st.one_of(
    st.integers(-9, 9).map(str),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=8).map(
        lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    ),
    st.sampled_from(["[1, [2], 3]", "{ a = 1, b = [2] }", "'''\n#]x\n'''", '"""a\\"""b"""']),
)


@given(st.lists(st.tuples(VALUES, st.sampled_from(["", " # ]}\"'", "  "])), max_size=6))
def test_any_values_are_told_apart(written: list[tuple[str, str]]) -> None:
    lines = [f"k{at} = {value}{behind}" for at, (value, behind) in enumerate(written)]
    text = "\n".join(lines)

    found = list(statements(text))

    assert [s.path for s in found] == [(f"k{at}",) for at in range(len(written))]
    assert [text[slice(*s.value)] for s in found if s.value] == [value for value, _ in written]
