"""Each source of the configuration as a layer: files, the stack file, variables and options."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cacheroute_cli import context
from cacheroute_cli.config.from_tables import fill
from cacheroute_cli.config.layers import Layer, Value
from cacheroute_cli.config.options import CONTEXTS, OPTIONS
from cacheroute_cli.context import Given

MAX_FILE_BYTES = 1024 * 1024
_TWICE = ("cannot overwrite", "cannot declare", "duplicate inline", "cannot mutate immutable")
"""How the reader begins to say that a key stands twice; it names neither the key nor the first."""
_AT_LINE = re.compile(r"^(?P<what>.*) \(at line (?P<line>\d+), column \d+\)$", re.DOTALL)
_AT_END = " (at end of document)"
_CONSOLE_BLOCK = re.compile(rb"^console[ \t]*:", re.MULTILINE)

_OPTION_OF = {
    "context": ("current_context", "--context"),
    "proxy_url": ("proxy_url", "--proxy-url"),
    "scheduler_url": ("scheduler_url", "--scheduler-url"),
    "timeout_s": ("timeout", "--timeout"),
    "output": ("output", "--output"),
    "color": ("color", "--color"),
    "ascii": ("ascii", "--ascii"),
    "interval_s": ("tui.interval", "--interval"),
}
"""Field of Given to the key it gives, and how it is typed."""


class Unreadable(Exception):
    """A file cannot be read as text; the message is a sentence."""


def from_options(given: Given) -> Layer:
    """Return what was typed; raises UsageFault for what is no address."""
    layer = Layer()
    for field, (key, spelling) in _OPTION_OF.items():
        value = getattr(given, field)
        if value is not None:
            # The toolkit has judged the others; what is typed wrongly ends the command at once.
            value = context.base_url(value) if field.endswith("_url") else value
            layer.values[key] = Value(value=value, origin=spelling)
    return layer


def from_variables(environ: Mapping[str, str]) -> list[Layer]:
    """Return what our variables give, and below it what the published ones do."""
    own, published = Layer(), Layer()
    for option in OPTIONS.values():
        for layer, name in ((own, option.variable), (published, option.published)):
            said = environ.get(name, "").strip() if name else ""
            if name and said:
                layer.take(option, option.kind.from_text(said), name)
    return [own, published]


def from_toml(path: Path) -> Layer | None:
    """Return what a file gives; None where there is no file."""
    layer = Layer()
    try:
        text = read_text(path)
    except FileNotFoundError:
        return None
    except Unreadable as problem:
        layer.problems.append(str(problem))
        return layer
    fill_from_toml(layer, text, path)
    return replace(layer, is_empty=not text.strip() and path.is_file())


def fill_from_toml(layer: Layer, text: str, path: Path) -> None:
    """Take what a text in TOML says."""
    import tomllib

    from cacheroute_cli.config.toml_lines import line_of, statements

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        layer.problems.append(_no_toml(path, text, str(problem)))
        return
    except RecursionError:
        layer.problems.append(f"{path}: is nested too deeply")
        return
    found = list(statements(text))

    def origin(key: tuple[str, ...]) -> str:
        line = line_of(found, key)
        return f"{path}:{line}" if line else str(path)

    fill(layer, document, origin)


def from_stack_file(path: Path) -> Layer:
    """Return what the `console` block of a stack file gives; it may say nothing of contexts."""
    layer = Layer(is_of_this_folder=True)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError:
        return layer
    # The YAML reader costs more than most commands; most stack files have no such block.
    if not _CONSOLE_BLOCK.search(raw):
        return layer
    from cacheroute_cli.stackfile.document import BadStackFile, read_document

    try:
        root, _ = read_document(path)
    except BadStackFile as fault:
        layer.problems.append(fault.message)
        return layer
    block = root.value.get("console") if root and isinstance(root.value, dict) else None
    if block is None or block.value is None:
        return layer
    lines: dict[tuple[str, ...], int] = {}
    document = _plain(block, (), lines)

    def origin(key: tuple[str, ...]) -> str:
        return f"{path}:{lines.get(key, block.key_line)}"

    if not isinstance(document, dict):
        layer.problems.append(f"{origin(())}: console must hold keys and values")
        return layer
    if document.pop(CONTEXTS, None) is not None:
        layer.problems.append(
            f"{origin((CONTEXTS,))}: console.{CONTEXTS} is not for a stack file; "
            "'cacheroute context add' keeps contexts in your own configuration"
        )
    fill(layer, document, origin)
    return layer


def read_text(path: Path) -> str:
    """Read a configuration file; raises FileNotFoundError, or Unreadable for any other reason."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise
    except NotADirectoryError as problem:
        raise FileNotFoundError(str(path)) from problem
    except OSError as problem:
        raise Unreadable(f"{path}: {(problem.strerror or 'cannot be read').lower()}") from None
    if len(raw) > MAX_FILE_BYTES:
        raise Unreadable(f"{path}: is larger than {MAX_FILE_BYTES} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = raw[: problem.start].count(b"\n") + 1
        raise Unreadable(f"{path}:{line}: is not UTF-8 text") from None


def _no_toml(path: Path, text: str, said: str) -> str:
    found = _AT_LINE.match(said)
    what, line = (found["what"], int(found["line"])) if found else (said, text.count("\n") + 1)
    what = what.removesuffix(_AT_END)
    what = f"{what[:1].lower()}{what[1:]}"
    if what.startswith(_TWICE):
        from cacheroute_cli.config.toml_twice import given_twice

        if twice := given_twice(text, line, what):
            return f"{path}:{twice.line}: {twice.name} is given twice, first on line {twice.first}"
    return f"{path}:{line}: is not valid TOML: {what}"


def _plain(entry: Any, path: tuple[str, ...], lines: dict[tuple[str, ...], int]) -> Any:
    lines[path] = entry.key_line
    match entry.value:
        case dict():
            return {key: _plain(inner, (*path, key), lines) for key, inner in entry.value.items()}
        case list():
            return [_plain(inner, path, lines) for inner in entry.value]
        case value:
            return value
