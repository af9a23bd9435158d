"""The common options reach every command, wherever they are typed."""

import inspect

import pytest
import typer

from cacheroute_cli.context import Context, Given
from cacheroute_cli.options import COMMON, with_context


def test_a_command_gets_a_context_and_its_own_options() -> None:
    seen: list[object] = []

    @with_context
    def command(context: Context, *, name: str = "x", flag: bool = False) -> None:
        seen.extend((context, name, flag))

    assert list(inspect.signature(command).parameters) == ["ctx", "name", "flag", *COMMON]

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(command)
    typer.main.get_command(app).main(
        args=["--name", "me", "--flag", "-o", "json", "--timeout", "2"],
        standalone_mode=False,
        obj=Given(output="table", proxy_url="h:1"),
    )

    context, name, flag = seen
    assert isinstance(context, Context)
    assert (context.output, context.timeout_s, context.proxy_url) == ("json", 2.0, "http://h:1")
    assert (name, flag) == ("me", True)


def test_a_command_without_a_context_is_a_mistake_of_ours() -> None:
    def command(name: str) -> None:
        del name

    with pytest.raises(TypeError, match="first parameter of command must be a Context"):
        with_context(command)
