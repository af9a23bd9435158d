"""Commands that hold commands: what each of them does in a whole sentence, and typos answered."""

from difflib import get_close_matches
from typing import Any

from typer.core import TyperGroup

from cacheroute_cli.wrong_usage import unknown_command


class CommandGroup(TyperGroup):
    """A group whose help cuts no sentence off, and that says what a wrong name may have meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is typed first; fails with those that are nearly called so."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            ctx.fail(unknown_command(args[0], get_close_matches(args[0], names)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does; the toolkit's own list ends in the middle of a sentence."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, _whole_sentence(self.commands[name])) for name in self.list_commands(ctx)]
            )


def _whole_sentence(command: Any) -> str:
    return (command.help or "").partition("\n\n")[0]
