"""What needs no conversion is taken as it is, and everything else as the toolkit takes it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer

from cacheroute_cli.lean_values import lean

Values = dict[str, object]


def an_app(seen: list[Values]) -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command()
    def command(
        words: Annotated[list[str] | None, typer.Argument()] = None,
        *,
        text: Annotated[str | None, typer.Option("--text")] = None,
        several: Annotated[list[str] | None, typer.Option("--several")] = None,
        form: Annotated[Literal["a", "b"] | None, typer.Option("--form")] = None,
        number: Annotated[int | None, typer.Option("--number", min=1)] = None,
        seconds: Annotated[float, typer.Option("--seconds")] = 2.5,
        path: Annotated[Path | None, typer.Option("--path")] = None,
        flag: Annotated[bool | None, typer.Option("--flag/--no-flag")] = None,
        upper: Annotated[str | None, typer.Option("--upper", parser=str.upper)] = None,
    ) -> None:
        seen.append(dict(locals()))

    return app


def taken(arguments: list[str], make: Callable[[Any], Any]) -> Values | str:
    seen: list[Values] = []
    command = make(typer.main.get_command(an_app(seen)))
    try:
        command.main(args=arguments, prog_name="x", standalone_mode=False)
    except typer.TyperException as problem:
        return problem.format_message()
    values = seen[0]
    values.pop("seen", None)
    return values


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["one", "two"],
        ["--text", "x", "--several", "a", "--several", "b"],
        ["--form", "b"],
        ["--form", "c"],
        ["--number", "3", "--seconds", "0.5"],
        ["--number", "0"],
        ["--number", "three"],
        ["--path", "/x"],
        ["--flag"],
        ["--no-flag"],
        ["--upper", "x"],
        ["--nothing"],
        ["--text"],
    ],
    ids=" ".join,
)
def test_every_value_and_every_complaint_is_as_without_us(arguments: list[str]) -> None:
    assert taken(arguments, lean) == taken(arguments, lambda command: command)


def test_help_is_as_without_us(capsys: pytest.CaptureFixture[str]) -> None:
    for make in (lean, lambda command: command):
        command = make(typer.main.get_command(an_app([])))
        command.main(args=["--help"], prog_name="x", standalone_mode=False)
    ours = capsys.readouterr().out

    assert ours[: len(ours) // 2] == ours[len(ours) // 2 :]


def test_a_toolkit_that_keeps_its_converters_elsewhere_is_left_alone() -> None:
    class Parameter:
        pass

    class Command:
        params = (Parameter(),)

        def get_help_option(self, _: object) -> None:
            return None

    command = Command()

    assert lean(command) is command
    assert vars(command.params[0]) == {}


@pytest.mark.parametrize("more", [[], ["-o", "json"], ["--context", "x"]])
def test_texts_cost_no_converter(more: list[str]) -> None:
    program = (
        "import sys\nfrom cacheroute_cli.main import run\n"
        f"run(['version', *{more!r}])\nassert 'pydantic' not in sys.modules\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
