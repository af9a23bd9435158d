"""The common options reach every command, wherever they are typed."""

import inspect
from typing import Annotated

import pytest
import typer

from cacheroute_cli.context import Context, Given
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.options import COMMON, with_context, with_given


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


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Given(interval_s=2.0), "--interval means nothing to this command"),
        (Given(columns="id"), "--columns means nothing to this command"),
        (Given(output="csv"), "there is no csv of this"),
    ],
)
def test_what_only_lists_understand_is_refused_by_others(given: Given, words: str) -> None:
    @with_context
    def command(context: Context) -> None:
        raise AssertionError(context)

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(command)
    with pytest.raises(UsageFault, match=words):
        typer.main.get_command(app).main(args=[], standalone_mode=False, obj=given)


def test_a_command_keeps_an_option_of_its_own_that_others_call_common() -> None:
    seen: list[object] = []

    @with_context
    def command(
        context: Context,
        *,
        config: str | None = None,
        lengths: Annotated[str | None, typer.Option("--context")] = None,
    ) -> None:
        seen.extend((context.proxy_url, config, lengths))

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(command)
    typer.main.get_command(app).main(
        args=["--config", "c", "--context", "1,2"], standalone_mode=False,
        obj=Given(proxy_url="h:1"),
    )  # fmt: skip

    assert seen == ["http://h:1", "c", "1,2"]


def test_a_command_that_needs_no_configuration_gets_what_was_typed() -> None:
    seen: list[Given] = []

    @with_given
    def command(given: Given) -> None:
        seen.append(given)

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(command)
    typer.main.get_command(app).main(
        args=["-c", "none", "-q"], standalone_mode=False, obj=Given(config_file="none.toml")
    )

    assert seen == [Given(context="none", quiet=True, config_file="none.toml")]
