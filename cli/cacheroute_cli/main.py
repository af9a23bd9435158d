"""`cacheroute`: the way in, and the way out with the right exit code.

Only the command that is asked for gets imported; `--help` and `--version` load none. Whatever
happens ends here: as one line on stderr, or in a crash file that the line names.
"""

import gc
import importlib
import inspect
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Exit, Fault, report, report_fault
from cacheroute_cli.groups import CommandGroup
from cacheroute_cli.lean_values import lean
from cacheroute_cli.list_options import LISTING
from cacheroute_cli.options import COMMON
from cacheroute_cli.supervisor.signals import Stopped
from cacheroute_cli.wrong_usage import sentence

PROGRAM = "cacheroute"
_GARBAGE = 200_000
"""New objects after which garbage is looked for."""

COMMANDS: Mapping[str, str] = {
    "status": "Show how the Proxy and its pool are.",
    "instances": "List the Instances of the pool, the least loaded first.",
    "show": "Show one Instance: what it is, does, has and costs.",
    "loads": "List what each Instance has to do, signal by signal.",
    "resources": "List what each Instance's host has left.",
    "queues": "List what stands in line for each Instance.",
    "topology": "List the links to knowledge nodes.",
    "scheduler": "Show how the Proxy stands with its Scheduler.",
    "alerts": "List what is out of order, the worst first.",
    "scores": "List what least_load makes of each Instance, part by part.",
    "decisions": "List which Instance got which request, and why.",
    "traces": "List how the last requests went, or show one of them room by room.",
    "watch": "Watch the Proxy and its Instances.",
    "tui": "Open the console: everything on one terminal, live.",
    "web": "Serve the console to browsers of this host: read-only, behind a token.",
    "raw": "Print any page of the control plane.",
    "record": "Record what a Proxy says, to look at it later.",
    "export": "Print a list, or the history of a recording, as CSV.",
    "explain": "Explain a column, an alert or a word.",
    "drain": "Let Instances take no new requests.",
    "undrain": "Let drained Instances take requests again.",
    "weight": "Give an Instance another weight than its own.",
    "unregister": "Take Instances out of the pool.",
    "strategy": "Show how an Instance is chosen, or choose it another way.",
    "up": "Start a Proxy with its Instances and all that belongs to them, as one stack.",
    "down": "End a stack, in order.",
    "ps": "List the processes of a stack.",
    "logs": "Print the logs of a stack, merged by time.",
    "start": "Start processes of a stack that were stopped.",
    "stop": "End processes of a stack.",
    "restart": "End processes of a stack and start them anew.",
    "scale": "Start or end demo Instances until there are so many.",
    "prune": "End and forget what killed supervisors have left behind.",
    "proxy": "Run the Proxy here: start it, stop it, see how it is.",
    "instance": "Run demo Instances here, and put real model servers into the pool.",
    "agent": "Run the resource agent here.",
    "calibrate": "Measure how fast an Instance is, and write the coefficients of forecasts.",
    "demo": "See it work: a Proxy, demo Instances and a replayed trace.",
    "repl": "Type commands at a prompt, one after the other.",
    "context": "Choose which Proxy is meant, by name.",
    "config": "See, check and edit the configuration.",
    "doctor": "Check that everything here and at the Proxy is as it should be.",
    "completion": "Have the shell complete commands, options and live names.",
    "version": "Print the version.",
    "help": "Show the help of a command.",
}
"""Every command and its line in the help, so that help imports none of them."""


SECTIONS: Mapping[str, str] = {
    "Look at the fleet": "status",
    "Change the fleet": "drain",
    "Run it here": "up",
    "Tools": "calibrate",
}
"""Headings of the help, each with the command that it begins with."""


class _LazyGroup(CommandGroup):
    """A group whose commands are modules, imported when they are run."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the toolkit's signature
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"cacheroute_cli.commands.{cmd_name}")
        return lean(typer.main.get_command(module.app))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as above
        names = list(COMMANDS)
        starts = [names.index(first) for first in SECTIONS.values()]
        widest = max(map(len, names))
        for heading, start, end in zip(SECTIONS, starts, [*starts[1:], None], strict=True):
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(widest), COMMANDS[name]) for name in names[start:end]]
                )


app = typer.Typer(
    cls=_LazyGroup,
    help="Route LLM traffic over a fleet of Instances, and see how it does.",
    invoke_without_command=True,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from cacheroute import __version__
        from cacheroute_cli.output import print_text

        print_text(f"{PROGRAM} {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
]
BEFORE_COMMANDS: Mapping[str, Any] = {
    **COMMON,
    **{name: LISTING[name] for name in ("columns", "headers", "watch", "interval_s")},
}
"""Options that may stand before the command as well."""


def root(ctx: typer.Context, **typed: Any) -> None:
    """Route LLM traffic over a fleet of Instances, and see how it does."""
    typed.pop("version")
    earlier = ctx.obj if isinstance(ctx.obj, Given) else Given()
    ctx.obj = Given(**typed).over(earlier)
    if ctx.invoked_subcommand is None:
        from cacheroute_cli.output import print_text

        print_text(ctx.get_help())


def _parameters_of_root() -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    first = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    options = [
        inspect.Parameter(name, kind, default=None, annotation=annotation)
        for name, annotation in BEFORE_COMMANDS.items()
    ]
    return [
        first,
        *options,
        inspect.Parameter("version", kind, default=False, annotation=VersionOption),
    ]


vars(root)["__signature__"] = inspect.Signature(_parameters_of_root())
root.__annotations__ = {p.name: p.annotation for p in _parameters_of_root()}
app.callback()(root)


def run(arguments: Sequence[str], given: Given | None = None) -> int:
    """Run one command line and return its exit code; `given` is what holds for it already."""
    given = given or Given()
    as_json = _wants_json(list(arguments)) or given.output in ("json", "jsonl")
    try:
        code = lean(typer.main.get_command(app)).main(
            args=list(arguments), prog_name=PROGRAM, standalone_mode=False, obj=given
        )
        return code if isinstance(code, int) else Exit.OK
    except Fault as fault:
        return _ended(fault, as_json=as_json)
    except typer.TyperException as problem:
        try:
            return _usage_error(problem, arguments, as_json=as_json)
        except Fault as fault:
            return _ended(fault, as_json=as_json)
    except typer.Abort:
        return Exit.INTERRUPTED
    except SystemExit as ended:
        # The toolkit swaps stdout for a wrapper when its own reader has left.
        is_pipe_gone = not isinstance(sys.stdout, io.TextIOBase)
        return Exit.BROKEN_PIPE if is_pipe_gone else int(ended.code or 0)
    except Exception as problem:
        if given.debug or "--debug" in arguments:
            import traceback

            traceback.print_exception(problem)
        from cacheroute_cli.crash import report_crash

        return report_crash(problem, as_json=as_json)
    except Stopped as stopped:
        return 128 + stopped.number


def _ended(fault: Fault, *, as_json: bool) -> int:
    if fault.exit != Exit.BROKEN_PIPE:
        report_fault(fault, as_json=as_json)
    return fault.exit


def main() -> None:
    """Run the command line of this process and exit."""
    _open_what_is_closed()
    # What is imported stays for good: to look through it again and again is a tenth of a command.
    gc.set_threshold(_GARBAGE)
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.BROKEN_PIPE
    sys.exit(code)


def _open_what_is_closed() -> None:
    """Give streams that whoever started us has closed somewhere to go, as daemons expect."""
    # A file opened later would else be taken for one of them.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def _usage_error(problem: typer.TyperException, arguments: Sequence[str], *, as_json: bool) -> int:
    context = getattr(problem, "ctx", None)
    if type(problem).__name__ == "NoArgsIsHelpError" or not problem.format_message():
        # Nothing was asked of a group: its help is the answer.
        from cacheroute_cli.output import print_text

        if context is not None:
            print_text(context.get_help())
        return Exit.USAGE
    exit_code = getattr(problem, "exit_code", Exit.USAGE)
    path = context.command_path if context is not None else _command_in(arguments)
    report(
        sentence(problem),
        code="usage",
        exit_code=exit_code,
        hint=f"try '{path} --help'",
        as_json=as_json,
    )
    return int(exit_code)


def _command_in(arguments: Sequence[str]) -> str:
    """Return the command whose help is worth reading, where the toolkit does not say."""
    return " ".join([PROGRAM, *[word for word in arguments if word in COMMANDS][:1]])


def _wants_json(arguments: Sequence[str]) -> bool:
    """Tell how errors are to be written, before and whether or not the options can be read."""
    return any(
        argument in _JSON_ARGUMENTS
        or (argument in ("-o", "--output") and arguments[at + 1 : at + 2] in (["json"], ["jsonl"]))
        for at, argument in enumerate(arguments)
    )


_JSON_ARGUMENTS = frozenset(
    f"{option}{form}" for option in ("-o", "-o=", "--output=") for form in ("json", "jsonl")
)
