"""The lists about the configuration: its contexts, its values with who gave them, its files."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cacheroute.console import cast
from cacheroute.console.amounts import render_text
from cacheroute.console.columns import Kind
from cacheroute_cli.config.layers import DEFAULT, InForce
from cacheroute_cli.config.load import Loaded
from cacheroute_cli.config.options import OPTIONS

_NOT_SAID = "Nobody has said, and there is no default."


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRow:
    """One context."""

    name: str
    current: bool
    proxy_url: str | None
    scheduler_url: str | None
    readonly: bool
    label: str | None
    color: str | None
    token_file: str | None
    origin: str | None

    @property
    def sign(self) -> str:
        """What stands before it in a table."""
        return "●" if self.current else " "


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRow:
    """One key and what holds for it."""

    key: str
    value: object
    origin: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """One place where a configuration may be."""

    role: str
    """`stack`, `user` or `system`."""
    path: str
    exists: bool


def context_rows(held: InForce) -> list[ContextRow]:
    """Return all contexts, in the order of the files."""
    return [_context(held, name) for name in held.contexts]


def _context(held: InForce, name: str) -> ContextRow:
    values = {key: one.value for key, one in held.contexts[name].items()}
    origins = [one.origin for one in held.contexts[name].values()]
    return ContextRow(
        name=name,
        current=name == held.context,
        proxy_url=values.get("proxy_url"),
        scheduler_url=values.get("scheduler_url"),
        readonly=bool(values.get("readonly")),
        label=values.get("label"),
        color=values.get("color"),
        token_file=values.get("token_file"),
        origin=origins[0] if origins else None,
    )


def value_rows(held: InForce) -> Iterator[ValueRow]:
    """Return every key with what holds, in the order of the table of keys."""
    for key, one in held.values.items():
        doc = OPTIONS[key].doc if key in OPTIONS else "The key that does this."
        yield ValueRow(key=key, value=one.value, origin=one.origin, doc=doc)


def file_rows(loaded: Loaded) -> list[FileRow]:
    """Return every place that is looked at, the highest first."""
    where = loaded.places
    candidates: list[tuple[str, Path | None]] = [("stack", where.stack), ("user", where.user)]
    candidates += [("system", path) for path in where.system]
    return [
        FileRow(role=role, path=str(path), exists=path.is_file())
        for role, path in candidates
        if path is not None
    ]


def written(value: object) -> str | None:
    """Write a value as a file has it; None for nothing."""
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case tuple():
            return ", ".join(filter(None, map(written, value)))
        case float():
            return f"{value:g}"
        case _:
            return str(value)


CONTEXTS: Kind[ContextRow] = Kind(
    name="contexts",
    noun="contexts",
    columns=(
        cast.word("sign", " ", "A dot before the context in force."),
        cast.word("name", "NAME", "What -c takes.", gap=" "),
        cast.word("proxy_url", "PROXY", "Control plane of its Proxy.", gives_way=True),
        cast.word("scheduler_url", "SCHEDULER", "Control plane of its Scheduler.",
            unknown=_NOT_SAID, spare=True, gives_way=True),
        cast.yes("readonly", "READONLY", "Whether changes are refused."),
        cast.word("label", "LABEL", "What is shown instead of its name.", unknown=_NOT_SAID,
            spare=True),
        cast.word("color", "COLOR", "Colour of the label.", unknown=_NOT_SAID, wide=True),
        cast.word("token_file", "TOKEN", "File with its token.", unknown=_NOT_SAID, wide=True),
        cast.yes("current", "CURRENT", "Whether it is the one in force.", wide=True),
        cast.word("origin", "ORIGIN", "Where it stands.", wide=True),
    ),
    name_of=lambda row: row.name,
    searched=lambda row: f"{row.name} {row.label or ''} {row.proxy_url}",
)  # fmt: skip

_KEY = cast.word("key", "KEY", "Its path in a file.")
_VALUE = cast.word(
    "value", "VALUE", "What holds.", text=lambda row: render_text(written(row.value)),
    unknown=_NOT_SAID, gives_way=True,
)  # fmt: skip

VALUES: Kind[ValueRow] = Kind(
    name="config",
    noun="keys",
    columns=(
        _KEY,
        _VALUE,
        cast.word("origin", "ORIGIN", f"Who gave it; {DEFAULT} where nobody did.", gives_way=True),
        cast.word("doc", "MEANING", "What it is for.", wide=True),
    ),
    name_of=lambda row: row.key,
    searched=lambda row: f"{row.key} {row.doc}",
)

CONTEXT_VALUES: Kind[ValueRow] = replace(VALUES, name="context")

FILES: Kind[FileRow] = Kind(
    name="config_files",
    noun="files",
    columns=(
        cast.word("role", "ROLE", "Whose it is; the first outranks the others."),
        cast.word("path", "PATH", "Where it is, or would be."),
        cast.yes("exists", "EXISTS", "Whether it is there."),
    ),
    name_of=lambda row: row.path,
    searched=lambda row: row.path,
)
