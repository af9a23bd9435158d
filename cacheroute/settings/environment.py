"""Settings from environment variables: ours with a prefix, and the published flat names.

An empty variable counts as not set. Names without our prefix that the world uses for other
things (PORT, HOST, DEBUG) are never read.
"""

import re
from collections.abc import Mapping

from cacheroute.settings.layer import Layer, Written, children, verdict
from cacheroute.settings.names import (
    FLAT_NAMES,
    FLAT_NAMES_WITHOUT_EFFECT,
    GATEWAY_KEYS,
    OTHER_PREFIXED_NAMES,
)
from cacheroute.settings.nearest import nearest
from cacheroute.settings.options import OptionPath, env_name, options

PREFIX = "CACHEROUTE_"
_KUBERNETES_NAME = re.compile(
    r"CACHEROUTE_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?"
    r"|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)",
    re.ASCII,
)
_KUBERNETES_PORT = re.compile(r"(?:tcp|udp|sctp)://", re.ASCII)


def read_prefixed(environ: Mapping[str, str]) -> Layer:
    """Read every `CACHEROUTE_*` variable; one that is nobody's is a problem."""
    layer = Layer(environ=environ)
    paths = {env_name(path): path for path in _paths()}
    for name, text in sorted(environ.items()):
        if not name.upper().startswith(PREFIX) or name in OTHER_PREFIXED_NAMES:
            continue
        path = paths.get(name)
        if path is None and _is_from_kubernetes(name, text):
            continue
        if path is None:
            _refuse(name, paths, layer)
        elif text.strip():
            layer.put(path, text, _written(name, path))
    return layer


def read_flat(environ: Mapping[str, str]) -> Layer:
    """Read the published names; one that is nearly a published name is warned about."""
    layer = Layer(environ=environ)
    for name, key in FLAT_NAMES.items():
        text = environ.get(name, "")
        if text.strip():
            path = tuple(key.split("."))
            layer.put(path, text, _written(name, path))
    for name in sorted(environ):
        if name.startswith("PROXY_") and name not in FLAT_NAMES.keys() | FLAT_NAMES_WITHOUT_EFFECT:
            meant = nearest(name, FLAT_NAMES, cutoff=0.85)
            if meant:
                layer.warnings.append(f"environment: {name} is not read; did you mean {meant}?")
    return layer


def flat_names_without_effect(environ: Mapping[str, str]) -> list[str]:
    """Return the published names that are set and that this version does nothing with."""
    return sorted(name for name in FLAT_NAMES_WITHOUT_EFFECT if environ.get(name))


def _is_from_kubernetes(name: str, text: str) -> bool:
    """Whether Kubernetes set this, as it does in pods beside a Service called cacheroute."""
    is_link = name.endswith("_PORT") and _KUBERNETES_PORT.match(text) is not None
    return is_link or _KUBERNETES_NAME.fullmatch(name) is not None


def _paths() -> list[OptionPath]:
    return [*options(), *(tuple(key.split(".")) for key in GATEWAY_KEYS)]


def _written(name: str, path: OptionPath) -> Written:
    return Written(origin=name, label=f"environment: {name}: {'.'.join(path)}", is_text=True)


def _refuse(name: str, known: Mapping[str, OptionPath], layer: Layer) -> None:
    path = tuple(part.lower() for part in name[len(PREFIX) :].split("__"))
    label = f"environment: {name}"
    if children(path):
        layer.problems.append(f"{label}: is a section; set {env_name((*path, children(path)[0]))}")
        return
    outcome = verdict(path)
    if outcome and "unknown key" not in outcome[1]:
        is_problem, sentence = outcome
        (layer.problems if is_problem else layer.warnings).append(f"{label}: {sentence}")
        return
    meant = nearest(
        name[len(PREFIX) :],
        [other.removeprefix(PREFIX) for other in (*known, *OTHER_PREFIXED_NAMES)],
    )
    hint = f"; did you mean {PREFIX}{meant}?" if meant else ""
    layer.problems.append(f"{label}: unknown variable{hint}")
