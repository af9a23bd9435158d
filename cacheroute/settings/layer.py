"""What one source gave: values by setting, with where each came from, and what was wrong.

Every source puts its values in through the same door, so an unknown key is refused, a
gateway key is translated and a reference is resolved in the same way wherever it was written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cacheroute.settings.names import GATEWAY_KEYS, KEYS_NOT_BUILT, KEYS_WITHOUT_EFFECT
from cacheroute.settings.nearest import nearest
from cacheroute.settings.options import (
    Kind,
    Option,
    OptionPath,
    field_names,
    options,
    sections,
)
from cacheroute.settings.values import (
    InnerPath,
    References,
    convert,
    is_reference,
    literal_secrets,
    read_text,
)

_MAX_KEY_CHARS = 128
_STRUCTURED = (Kind.LIST, Kind.SECTIONS, Kind.MAPPING)
_FROM_TEXT = (Kind.LIST, Kind.MAPPING)
"""Kinds that may be given as text even where values have a shape of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where and how a value was written."""

    origin: str
    """Its source for `config show`: `cacheroute.yaml:12`, `PROXY_CP_PORT`, `--set`."""
    label: str
    """How a problem with it begins: the source and the key."""
    is_text: bool = False
    """Whether it came as text whose shape is still to be read."""
    inner_labels: Mapping[InnerPath, str] = field(default_factory=dict)
    """Labels of what stands inside a list, by its path in the list."""

    def label_of(self, inner: InnerPath) -> str:
        """Return the label of something inside the value: the nearest one that is known."""
        for depth in range(len(inner), 0, -1):
            if inner[:depth] in self.inner_labels:
                return self.inner_labels[inner[:depth]] + render_inner(inner[depth:])
        return self.label + render_inner(inner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One value and where it was written."""

    value: object
    written: Written
    references: Mapping[InnerPath, str] = field(default_factory=dict)
    """Which `env:NAME` stood where in the value: nothing of what it holds may be repeated."""

    def reference_at(self, inner: InnerPath) -> str | None:
        """Return the reference that something inside the value came from."""
        for depth in range(len(inner) + 1):
            if inner[:depth] in self.references:
                return self.references[inner[:depth]]
        return None


@dataclass(slots=True)
class Layer:
    """All that one source gave."""

    environ: Mapping[str, str]
    """What references are resolved against."""
    given: dict[OptionPath, Given] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    hidden: dict[str, str] = field(default_factory=dict)
    """Texts that must not be repeated, and what to show instead."""
    translated: set[OptionPath] = field(default_factory=set)
    """Settings that were given by their gateway key."""

    def put(self, path: OptionPath, value: object, written: Written) -> None:
        """Take one value in, or note what is wrong with it."""
        key = ".".join(path)
        if outcome := verdict(path):
            is_problem, sentence = outcome
            (self.problems if is_problem else self.warnings).append(f"{written.label}: {sentence}")
            return
        ours = GATEWAY_KEYS.get(key)
        target = tuple(ours.split(".")) if ours else path
        if target in self.given and bool(ours) != (target in self.translated):
            gateway_key = next(
                name for name, own in GATEWAY_KEYS.items() if own == ".".join(target)
            )
            self.warnings.append(
                f"{written.label}: {'.'.join(target)} and {gateway_key} are the same setting; "
                f"{gateway_key} counts"
            )
            if not ours:
                return
        if ours:
            self.translated.add(target)
        self._take(options()[target], value, written)

    def _take(self, option: Option, value: object, written: Written) -> None:
        references = References(environ=self.environ, hidden=self.hidden)
        try:
            if option.kind in _STRUCTURED and is_reference(value):
                value = references.resolve(value)
            if isinstance(value, str) and (written.is_text or option.kind in _FROM_TEXT):
                value = read_text(option, value)
            self.hidden |= dict.fromkeys(literal_secrets(option.path[-1], value), "…")
            if option.kind is Kind.SECTIONS:
                value = self._checked_sections(option, value, written)
            value = references.resolve(value)
            if not references.missing:
                value = convert(option, value)
        except ValueError as error:
            reference = references.found.get(())
            text = f"is not valid with what {reference} holds" if reference else str(error)
            self.problems.append(f"{written.label}: {text}")
            return
        except RecursionError:
            self.problems.append(f"{written.label}: is nested too deeply")
            return
        if references.missing:
            self.problems += [
                f"{written.label_of(inner)}: {text}" for inner, text in references.missing
            ]
            return
        self.given[option.path] = Given(value=value, written=written, references=references.found)

    def _checked_sections(self, option: Option, value: object, written: Written) -> object:
        """Refuse unknown keys inside a list of sections, and go on without them."""
        if not isinstance(value, list) or option.items is None:
            return value
        known = field_names(option.items)
        checked: list[object] = []
        for index, entry in enumerate(value):
            if not isinstance(entry, dict):
                checked.append(entry)
                continue
            for name in entry:
                if name not in known:
                    label = written.label_of((index, str(name)))
                    self.problems.append(f"{label}: {_unknown_inside(option, str(name), known)}")
            checked.append({name: inner for name, inner in entry.items() if name in known})
        return checked


def verdict(path: OptionPath) -> tuple[bool, str] | None:
    """Judge a path that is no setting: whether it is a problem, and why. None for a setting."""
    for depth in range(1, len(path) + 1):
        prefix = ".".join(path[:depth])
        if prefix in KEYS_WITHOUT_EFFECT:
            return False, "has no effect here"
        if prefix in KEYS_NOT_BUILT:
            return True, f"this version does not have {prefix}; take it out"
    if path in options() or ".".join(path) in GATEWAY_KEYS:
        return None
    return True, unknown_key(path)


def unknown_key(path: OptionPath) -> str:
    """Say that a key is unknown, with the nearest one that exists."""
    parent, leaf = path[:-1], path[-1][:_MAX_KEY_CHARS]
    beside = children(parent)
    if meant := nearest(leaf, beside):
        return f"unknown key; did you mean {'.'.join((*parent, meant))}?"
    keys = [option.key for option in options().values()] + list(GATEWAY_KEYS)
    if not beside and (meant := nearest(".".join((*parent, leaf)), keys)):
        return f"unknown key; did you mean {meant}?"
    by_leaf = {option.path[-1]: option.key for option in reversed([*options().values()])}
    if meant := nearest(leaf, by_leaf, cutoff=0.8):
        return f"unknown key; did you mean {by_leaf[meant]}?"
    if beside:
        place = ".".join(parent) or "the top"
        return f"unknown key; at {place} there are {', '.join(beside)}"
    return "unknown key"


def children(section: OptionPath) -> tuple[str, ...]:
    """Return the keys that may stand under a section, the gateway's `server` included."""
    if section == ("server",):
        return tuple(key.partition(".")[2] for key in GATEWAY_KEYS)
    return sections().get(section, ())


def render_inner(inner: InnerPath) -> str:
    """Return a path inside a value as people write it: `[0].url`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in inner)


def _unknown_inside(option: Option, name: str, known: Iterable[str]) -> str:
    if f"{option.key}.{name}" in KEYS_NOT_BUILT:
        return f"this version does not have {name} of {option.key}; take it out"
    if meant := nearest(name[:_MAX_KEY_CHARS], known):
        return f"unknown key; did you mean {meant}?"
    return f"unknown key; an entry has {', '.join(known)}"
