"""The tree of commands as plain values: what a shell needs of it, and no toolkit to read it.

Made of the commands themselves, and kept in a file until one of their modules changes.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

Node = dict[str, Any]
"""`help`, `options`, `arguments`, and `commands` by name; all but the help may be missing."""

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "injection_strategy": ("default", "iws"),
    "ready_release_policy": ("ordered", "text_bypass"),
}
_SOURCE_OF_PARAMETER: Mapping[str, str] = {
    "context": "contexts",
    "strategy": "strategies",
    "stack": "stacks",
}
_SOURCE_OF_METAVAR: Mapping[str, str] = {"FILE": "files", "CONTEXT": "contexts"}
_SOURCE_OF_ARGUMENT: Mapping[str, str] = {
    "ID": "instances",
    "ID...": "instances",
    "TERM": "terms",
    "LIST": "lists",
    "COMMAND...": "commands",
    "SHELL": "shells",
}
_BY_HAND = ("proxy", "instance", "agent")
"""Groups whose arguments `name` are processes that were started one by one."""
_OF_STACKS = ("logs", "start", "stop", "restart")
"""Commands whose arguments `names` are processes of a stack."""


def build() -> Node:
    """Make the tree of all commands; imports every one of them."""
    import typer

    from cacheroute_cli.main import app

    return _node(typer.main.get_command(app), ())


def _node(command: Any, path: tuple[str, ...]) -> Node:
    import typer

    node: Node = {"help": command.get_short_help_str(limit=80)}
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    node["options"] = [_option(one, path) for one in options] + [
        {"names": ["-h", "--help"], "takes": False, "help": "Show the help."}
    ]
    node["arguments"] = [
        {"source": _source(one, path), "many": one.nargs == -1} for one in arguments
    ]
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        node["commands"] = {
            name: _node(command.get_command(context, name), (*path, name))
            for name in command.list_commands(context)
        }
    return node


def _option(option: Any, path: tuple[str, ...]) -> dict[str, Any]:
    found = {
        "names": [*option.opts, *option.secondary_opts],
        "takes": not option.is_flag,
        "help": (option.help or "").partition(". ")[0].rstrip("."),
    }
    return {**found, "source": _source(option, path)} if found["takes"] else found


def _source(parameter: Any, path: tuple[str, ...]) -> str | list[str] | None:
    """Return what may stand there: the name of a source, or the values themselves."""
    if choices := list(_literals(parameter.type_descriptor.annotation)):
        return choices
    name, metavar = parameter.name, (parameter.metavar or "").strip("[]")
    if name in _CHOICES:
        return list(_CHOICES[name])
    if path == ("strategy",) and name == "name":
        return "strategies"
    if parameter.param_type_name == "argument":
        if path[:1] and path[0] in _OF_STACKS and name == "names":
            return "processes"
        if path[:1] and path[0] in _BY_HAND and name == "name":
            return path[0]
        return _SOURCE_OF_ARGUMENT.get(metavar) or _SOURCE_OF_METAVAR.get(metavar)
    if name in ("columns", "sort"):
        return f"columns:{path[0]}" if path else None
    return _SOURCE_OF_PARAMETER.get(name) or _SOURCE_OF_METAVAR.get(metavar)


def _literals(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from map(str, get_args(annotation))
        return
    for inner in get_args(annotation):
        yield from _literals(inner)


def words() -> dict[str, list[str]]:
    """Return the names that are the same everywhere, by their source."""
    from cacheroute.console.explain import explanations
    from cacheroute.console.kinds import KINDS
    from cacheroute.core.routing.registry import STRATEGIES

    found = {
        "strategies": [row.name for row in STRATEGIES],
        "terms": list(dict.fromkeys(one.term for one in explanations())),
        "lists": list(KINDS),
    }
    columns = {
        f"columns:{name}": [column.key for column in kind.columns if column.key != "sign"]
        for name, kind in KINDS.items()
    }
    return found | columns


def load(folder: Path) -> Node:
    """Return the tree and its words, from the file in a folder or else made anew."""
    path, stamp = folder / "commands.json", _stamp()
    try:
        kept = json.loads(path.read_bytes())
        if kept["stamp"] == stamp:
            return dict(kept)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    made = {"stamp": stamp, "tree": build(), "words": words()}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.{os.getpid()}.new")
        beside.write_text(json.dumps(made), encoding="utf-8")
        beside.replace(path)
    except OSError:
        pass
    return made


def _stamp() -> list[int]:
    """Return what changes when a command does."""
    package = Path(__file__).parents[1]
    newest = count = 0
    for folder in (package, package / "commands"):
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    newest = max(newest, entry.stat().st_mtime_ns)
                    count += 1
    return [newest, count]
