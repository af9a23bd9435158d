"""A stack file as plain values, each with its line: YAML 1.2 and nothing clever.

Equal keys are refused, tags are not followed, and broken text is one sentence with its line.
Imported only when there is a file, since the YAML reader costs more than most commands.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from cacheroute_cli.diagnostics import Exit, Fault

MAX_FILE_BYTES = 1024 * 1024
MAX_NODES = 20_000
MAX_DEPTH = 16
_TAG = "tag:yaml.org,2002:"
_SCALARS = frozenset(_TAG + name for name in ("str", "int", "float", "bool", "null"))


class BadStackFile(Fault):
    """The stack file cannot be used; each line of the message is one thing to mend."""

    code = "stack.bad_file"
    exit = Exit.USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One value of the file."""

    value: Any
    """A scalar, a list of Entries, or a mapping of names to Entries."""
    path: str
    """Keys that lead to it, as `instances[2].port`; empty for the whole file."""
    line: int
    key_line: int
    """Line of its key, which is what a complaint about the key points at."""


class _Reading:
    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []
        self._nodes = 0

    def entry(self, node: Node, path: str, depth: int, constructor: Any, key_line: int) -> Entry:
        line = node.start_mark.line + 1
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            raise BadStackFile(f"{self.name}:{line}: holds more values, or deeper, than a stack")
        value: Any
        match node:
            case MappingNode():
                value = self._mapping(node, path, depth, constructor)
            case SequenceNode():
                value = [
                    self.entry(
                        inner, f"{path}[{at}]", depth + 1, constructor, inner.start_mark.line + 1
                    )
                    for at, inner in enumerate(node.value)
                ]
            case _:
                value = self._scalar(node, path, constructor)
        return Entry(value=value, path=path, line=line, key_line=key_line)

    def _mapping(
        self, node: MappingNode, path: str, depth: int, constructor: Any
    ) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = key.value if isinstance(key.value, str) else "?"
            inner = f"{path}.{name}" if path else name
            if key.tag == _TAG + "merge":
                self.problems.append(
                    f"{self.name}:{line}: << is not supported; write the keys out, "
                    "or put them under defaults"
                )
            elif name in entries:
                self.problems.append(
                    f"{self.name}:{line}: {inner} is given twice, first on line "
                    f"{entries[name].key_line}; keep one of them"
                )
            else:
                entries[name] = self.entry(value, inner, depth + 1, constructor, line)
        return entries

    def _scalar(self, node: Node, path: str, constructor: Any) -> Any:
        tag = str(node.tag)
        if tag not in _SCALARS:
            if tag != f"{_TAG}timestamp":
                where = f"{self.name}:{node.start_mark.line + 1}"
                self.problems.append(f"{where}: {path} has a tag, {tag[:64]}; write a plain value")
            return node.value  # a date, say: text to us
        try:
            return constructor.construct_object(node, deep=True)
        except ValueError:
            return node.value  # a number with thousands of digits: refused by type later

    def broken(self, error: MarkedYAMLError) -> BadStackFile:
        mark = error.problem_mark or error.context_mark
        where = f"{self.name}:{mark.line + 1}" if mark else self.name
        problem = " ".join(str(error.problem or error.context or error).split())[:200]
        if "\\t" in problem:
            problem = "a tab stands where indentation or a value begins; indent with spaces"
        return BadStackFile(f"{where}: is not valid YAML: {problem}")


def read_document(path: Path) -> tuple[Entry | None, list[str]]:
    """Read a file; None when it is empty. The list has what is wrong with its form.

    Raises BadStackFile when it cannot be read at all.
    """
    reading = _Reading(str(path))
    text = _text(path)
    yaml = YAML(typ="safe", pure=True)
    try:
        node = yaml.compose(text)
        if node is None:
            return None, []
        return reading.entry(node, "", 0, yaml.constructor, 1), reading.problems
    except MarkedYAMLError as error:
        raise reading.broken(error) from None
    except (YAMLError, ValueError) as error:
        sentence = " ".join(str(error).split())[:200]
        raise BadStackFile(f"{path}: is not valid YAML: {sentence}") from None
    except RecursionError:
        raise BadStackFile(f"{path}: is nested too deeply for a stack") from None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadStackFile(
            f"{path}: {(error.strerror or 'cannot be read').lower()}",
            hint="name a stack file with -f, or leave it out for the default stack",
        ) from None
    if len(raw) > MAX_FILE_BYTES:
        raise BadStackFile(f"{path}: is larger than {MAX_FILE_BYTES} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadStackFile(f"{path}:{line}: is not UTF-8 text") from None
