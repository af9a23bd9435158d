"""Settings from the command line: `--set proxy.port=8001`, the last one of a key counts."""

from collections.abc import Iterable, Mapping

from cacheroute.settings.layer import Layer, Written, children


def read_overrides(assignments: Iterable[str], environ: Mapping[str, str]) -> Layer:
    """Read `key=value` texts in the order they were given."""
    layer = Layer(environ=environ)
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        key = key.strip()
        path = tuple(key.split("."))
        label = f"--set {key[:128]}"
        if not equals or not key:
            layer.problems.append(f"{label}: needs a value, as in --set proxy.port=8001")
        elif children(path):
            layer.problems.append(f"{label}: is a section; set {key}.{children(path)[0]}")
        else:
            layer.put(path, text, Written(origin="--set", label=label, is_text=True))
    return layer
