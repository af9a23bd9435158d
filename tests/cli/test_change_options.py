"""`--write` lets a read-only context change something, for one command."""

from pathlib import Path

import pytest
import typer

from cacheroute_cli.change_options import with_changing
from cacheroute_cli.context import Context

SEEN: list[Context] = []


def ran(*arguments: str) -> Context:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command()
    @with_changing
    def change(context: Context) -> None:
        SEEN.append(context)

    typer.main.get_command(app).main(args=list(arguments), standalone_mode=False)
    return SEEN[-1]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("CACHEROUTE_READONLY", raising=False)


@pytest.mark.parametrize(
    ("said", "arguments", "expected"),
    [
        (None, [], False),
        ("1", [], True),
        ("1", ["--write"], False),
        (None, ["--write"], False),
    ],
)
def test_a_context_is_read_only_where_it_is_said_and_write_outranks_it(
    said: str | None, arguments: list[str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if said is not None:
        monkeypatch.setenv("CACHEROUTE_READONLY", said)

    assert ran(*arguments).readonly is expected


def test_the_common_options_are_there_as_well() -> None:
    context = ran("--proxy-url", "http://p:1", "-o", "json", "--no-input")

    assert (context.proxy_url, context.output, context.no_input) == ("http://p:1", "json", True)
