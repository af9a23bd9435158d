"""Lists about the configuration come out in every format, also where it is broken."""

import json

import pytest

from cacheroute_cli.config.load import load
from cacheroute_cli.config.printing import context_for, show
from cacheroute_cli.config.rows import FILES, FileRow
from cacheroute_cli.context import Given
from tests.cli.config.conftest import Home

ROW = FileRow(role="user", path="/x", exists=True)


def test_what_is_wrong_counts_as_not_said(home: Home) -> None:
    home.write("output = 'xml'\ncolor = 'never'\n")

    context = context_for(load(Given(), home.environ, home.here))

    assert (context.output, context.color) == (None, "never")


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "user\t/x\tyes\n"),
        ("csv", "role,path,exists\nuser,/x,true\n"),
        ("name", "/x\n"),
        (None, "user\t/x\tyes\n"),
    ],
)
def test_each_format_is_there(
    home: Home, capsys: pytest.CaptureFixture[str], output: str | None, text: str
) -> None:
    given = Given(output=output)  # type: ignore[arg-type]  # each is a format

    show(load(given, home.environ, home.here), FILES, [ROW])

    assert capsys.readouterr().out == text


def test_a_document_has_what_is_said_beside_the_rows(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    show(load(Given(output="json"), home.environ, home.here), FILES, [ROW], content={"more": 1})

    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["more"], document["total"]) == (
        "cacheroute.config_files/1", 1, 1,
    )  # fmt: skip
