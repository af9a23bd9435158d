"""The lists about the configuration have everything, and say who gave it."""

import pytest

from cacheroute_cli.config.load import load
from cacheroute_cli.config.options import OPTIONS
from cacheroute_cli.config.rows import context_rows, file_rows, value_rows, written
from cacheroute_cli.context import Given
from tests.cli.config.conftest import Home


def test_each_context_is_a_row_and_the_one_in_force_has_a_sign(home: Home) -> None:
    path = home.write(
        'current_context = "b"\ncontexts.a = { proxy_url = "h:1" }\n'
        'contexts.b = { proxy_url = "h:2", readonly = true }\n'
    )

    a, b = context_rows(load(Given(), home.environ, home.here).in_force)

    assert (a.name, a.proxy_url, a.readonly, a.current, a.sign) == (
        "a", "http://h:1", False, False, " ",
    )  # fmt: skip
    assert (b.name, b.readonly, b.sign, b.origin) == ("b", True, "●", f"{path}:3")


def test_every_key_is_a_row(home: Home) -> None:
    home.write('[keys]\n"app.pause" = "p"\n')

    rows = list(value_rows(load(Given(), home.environ, home.here).in_force))

    assert [row.key for row in rows] == [*OPTIONS, "keys.app.pause"]
    assert all(row.doc for row in rows)


def test_every_place_is_a_row_whether_it_is_there_or_not(home: Home) -> None:
    home.write("")

    rows = file_rows(load(Given(), home.environ, home.here))

    assert [(row.role, row.path, row.exists) for row in rows] == [
        ("user", str(home.file), True),
        ("system", str(home.system), False),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (1.0, "1"),
        (5000, "5000"),
        ((75, 95.5), "75, 95.5"),
        ("a", "a"),
    ],
)
def test_a_value_is_written_as_a_file_has_it(value: object, text: str | None) -> None:
    assert written(value) == text
