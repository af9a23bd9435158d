"""Whether the configuration can be used, and whether its secrets are kept."""

import os
from collections.abc import Iterator

from cacheroute_cli.config.doubts import doubts
from cacheroute_cli.config.load import Loaded
from cacheroute_cli.config.tokens import exposure, path_of
from cacheroute_cli.doctor.check import Check, bad, ok, warn


def check_config(loaded: Loaded) -> Iterator[Check]:
    """Look at the files, the context in force and the files with tokens."""
    held = loaded.in_force
    if held.problems:
        yield bad("config", "\n".join(held.problems), "'cacheroute config edit' opens your file")
    else:
        yield ok("config", ", ".join(map(str, loaded.read)) or "no files: the defaults hold")
    for doubt in doubts(held.values):
        yield warn("config", doubt, "'cacheroute config edit' opens your file")
    for nothing in loaded.empty:
        yield warn("config", f"{nothing} is empty: it changes nothing", "remove it, or fill it in")
    if held.context is not None and held.context not in held.contexts:
        known = ", ".join(held.contexts) or "none"
        yield bad(
            "context",
            f"{held.context_origin}: there is no context {held.context!r} (there are {known})",
            "'cacheroute context use NAME' chooses one",
        )
    elif held.context is not None:
        mode = "read-only" if held.values["readonly"].value else "changes allowed"
        yield ok("context", f"{held.context} ({held.context_origin}), {mode}")
    for name, values in held.contexts.items():
        if (file := values.get("token_file")) is None:
            continue
        path = path_of(file.value, file.origin)
        if exposed := exposure(path):
            yield warn("token", f"context {name}: {exposed}", f"chmod 600 {path}")
        elif not os.access(path, os.R_OK):
            yield bad("token", f"context {name}: {path} cannot be read", f"see {file.origin}")
