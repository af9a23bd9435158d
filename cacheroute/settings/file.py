"""The file of settings: YAML 1.2, read with the line of every key.

Our own reader, since the usual ones let the last of two equal keys win, read `1:30` as ninety,
and forget where a value stood. Broken text is one sentence with its line, never a trace.
Imported only when there is a file: ruamel.yaml takes 30 ms that most starts need not spend.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from cacheroute.core.errors import ConfigError
from cacheroute.settings.layer import Layer, Written, children, render_inner
from cacheroute.settings.options import Kind, OptionPath, options
from cacheroute.settings.values import InnerPath

MAX_FILE_BYTES = 1024 * 1024
MAX_NODES = 50_000
MAX_DEPTH = 32
_TAG = "tag:yaml.org,2002:"
_SCALARS = frozenset(_TAG + name for name in ("str", "int", "float", "bool", "null"))
_TAGS = _SCALARS | {_TAG + "map", _TAG + "seq", _TAG + "timestamp"}


def read_file(path: Path, environ: Mapping[str, str]) -> Layer:
    """Read a file into a layer; ConfigError when it cannot be read at all."""
    layer = Layer(environ=environ)
    document = _Document(name=str(path), problems=layer.problems)
    root = document.read(path)
    if root is None or root == {}:
        layer.warnings.append(f"{path} is empty: the defaults are used")
    elif isinstance(root, dict):
        _flatten(root, (), document, layer)
    else:
        layer.problems.append(f"{path}:1: must hold keys and values, such as proxy: {{port: 8001}}")
    return layer


def _flatten(
    section: dict[str, object], prefix: OptionPath, document: "_Document", layer: Layer
) -> None:
    for name, value in section.items():
        path = (*prefix, name)
        written = document.written(path)
        if path in options() or not children(path):
            layer.put(path, value, written)
        elif isinstance(value, dict):
            _flatten(value, path, document, layer)
        elif value is not None:
            layer.problems.append(
                f"{written.label}: is a section and takes keys such as {children(path)[0]}"
            )


@dataclass(slots=True)
class _Document:
    """A YAML document as plain values, with the line of each."""

    name: str
    problems: list[str]
    lines: dict[InnerPath, int] = field(default_factory=dict)
    _nodes: int = 0

    def written(self, path: OptionPath) -> Written:
        """Return where a key stands."""
        option = options().get(path)
        inner = (
            {
                where[len(path) :]: f"{self.name}:{line}: {_render(where)}"
                for where, line in self.lines.items()
                if where[: len(path)] == path and len(where) > len(path)
            }
            if option is not None and option.kind in (Kind.LIST, Kind.SECTIONS, Kind.MAPPING)
            else {}
        )
        origin = f"{self.name}:{self.lines[path]}"
        return Written(origin=origin, label=f"{origin}: {_render(path)}", inner_labels=inner)

    def read(self, path: Path) -> object:
        """Return the root value, None for an empty file."""
        text = self._text(path)
        yaml = YAML(typ="safe", pure=True)
        try:
            node = yaml.compose(text)
        except MarkedYAMLError as error:
            raise self._broken(error) from None
        except (YAMLError, ValueError) as error:
            sentence = " ".join(str(error).split())[:200]
            raise ConfigError([f"{self.name}: is not valid YAML: {sentence}"]) from None
        except RecursionError:
            raise ConfigError([f"{self.name}: is nested too deeply"]) from None
        return None if node is None else self._value(node, (), yaml.constructor)

    def _text(self, path: Path) -> str:
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            reason = (error.strerror or "cannot be read").lower()
            raise ConfigError([f"{self.name}: {reason}"]) from None
        if len(raw) > MAX_FILE_BYTES:
            raise ConfigError([f"{self.name}: is larger than {MAX_FILE_BYTES} bytes"])
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            raise ConfigError([f"{self.name}:{line}: is not UTF-8 text"]) from None

    def _broken(self, error: MarkedYAMLError) -> ConfigError:
        mark = error.problem_mark or error.context_mark
        where = f"{self.name}:{mark.line + 1}" if mark else self.name
        said = [part for part in (error.context, error.problem) if part]
        problem = " ".join(", ".join(said if said[-1].startswith("but") else said[-1:]).split())
        if "\\t" in problem:
            problem = "a tab stands where indentation or a value begins; indent with spaces"
        return ConfigError([f"{where}: is not valid YAML: {problem[:200]}"])

    def _value(self, node: Node, path: InnerPath, constructor: Any) -> object:
        self._nodes += 1
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if self._nodes > MAX_NODES or len(path) > MAX_DEPTH:
            raise ConfigError([f"{self.name}:{line}: holds more values, or deeper, than settings"])
        tag = str(node.tag)
        if tag not in _TAGS:
            where = f"{self.name}:{line}: {_render(path)}"
            self.problems.append(f"{where}: the tag {tag[:64]} is not supported")
            return None
        match node:
            case MappingNode():
                return self._mapping(node, path, constructor)
            case SequenceNode():
                return [
                    self._value(entry, (*path, index), constructor)
                    for index, entry in enumerate(node.value)
                ]
            case _:
                return self._scalar(node, constructor)

    def _mapping(self, node: Node, path: InnerPath, constructor: Any) -> dict[str, object]:
        values: dict[str, object] = {}
        merged: dict[str, object] = {}
        seen: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == _TAG + "merge":
                merged |= self._merged(value_node, path, constructor)
                continue
            name = key_node.value if isinstance(key_node.value, str) else "?"
            inner = (*path, name)
            if name in seen:
                self.problems.append(
                    f"{self.name}:{line}: {_render(inner)}: given twice, first on line {seen[name]}"
                )
                continue
            seen[name] = line
            self.lines[inner] = line
            values[name] = self._value(value_node, inner, constructor)
        return merged | values

    def _merged(self, node: Node, path: InnerPath, constructor: Any) -> dict[str, object]:
        """Read what `<<` brings in; of several, the first one counts."""
        sources = node.value if isinstance(node, SequenceNode) else [node]
        merged: dict[str, object] = {}
        for source in reversed(sources):
            value = self._value(source, path, constructor)
            if not isinstance(value, dict):
                line = node.start_mark.line + 1
                raise ConfigError([f"{self.name}:{line}: << takes a mapping"])
            merged |= value
        return merged

    def _scalar(self, node: Node, constructor: Any) -> object:
        if str(node.tag) not in _SCALARS:
            return node.value  # a date, say: text to us
        try:
            return constructor.construct_object(node, deep=True)
        except ValueError:
            return node.value  # a number with thousands of digits: refused by type later


def _render(path: InnerPath) -> str:
    return render_inner(path).removeprefix(".")
