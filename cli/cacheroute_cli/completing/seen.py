"""The names that the last answers of a Proxy held, kept so that a shell can complete them.

Best effort in both directions: what cannot be written or read is as if nothing had been seen.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cacheroute_cli.supervisor.state import file_name, state_root

MAX_IDS = 10_000
_MAX_ID_CHARS = 200
_MAX_FILE_BYTES = 4 * 1024 * 1024
_MAX_FILES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one Proxy said last."""

    proxy_id: str | None = None
    instances: Sequence[str] = ()


def recall(proxy_url: str, *, root: Path | None = None) -> Seen:
    """Return what was seen last at an address."""
    try:
        with _path(proxy_url, root).open("rb") as file:
            told = json.loads(file.read(_MAX_FILE_BYTES))
        proxy_id, instances = told.get("proxy_id"), told.get("instances")
    except (OSError, ValueError, AttributeError):
        return Seen()
    return Seen(
        proxy_id=proxy_id if isinstance(proxy_id, str) else None,
        instances=[one for one in instances if isinstance(one, str)]
        if isinstance(instances, list)
        else (),
    )


def remember(
    proxy_url: str,
    *,
    proxy_id: str | None = None,
    instances: Sequence[str] | None = None,
    root: Path | None = None,
) -> None:
    """Keep what was seen; what is None stays as it was."""
    before = recall(proxy_url, root=root)
    kept = before.instances if instances is None else sorted(filter(_is_fit, instances))[:MAX_IDS]
    now = Seen(proxy_id=proxy_id or before.proxy_id, instances=list(kept))
    # Most looks see what the one before saw.
    if now == before:
        return
    path = _path(proxy_url, root)
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        told = {"proxy_id": now.proxy_id, "instances": list(now.instances)}
        beside.write_text(json.dumps(told), encoding="utf-8")
        beside.replace(path)
        _forget_the_oldest(path.parent)


def _is_fit(name: str) -> bool:
    return 0 < len(name) <= _MAX_ID_CHARS and name.isprintable()


def _path(proxy_url: str, root: Path | None) -> Path:
    return (root or state_root()) / "seen" / f"{file_name(proxy_url)[:200]}.json"


def _forget_the_oldest(folder: Path) -> None:
    found = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in found[:-_MAX_FILES]:
        path.unlink(missing_ok=True)
