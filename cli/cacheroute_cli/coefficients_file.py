"""The file that coefficients are kept in: read whole, written whole, and never lost by chance."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cacheroute.core.predict.coefficients import PUBLISHED, Coefficients
from cacheroute_cli.diagnostics import Exit, Fault, UsageFault


class FileInTheWay(Fault):
    """There is a file already."""

    code = "calibrate.exists"
    exit = Exit.CONFLICT


class CannotWrite(Fault):
    """The file cannot be written."""

    code = "calibrate.unwritable"


def read_base(path: Path | None) -> Coefficients:
    """Read what is kept where nothing is measured; None takes the published coefficients."""
    if path is None:
        return PUBLISHED
    from cacheroute.settings.knowledge import PredictSettings

    try:
        return PredictSettings(coefficients=path).load()
    except ValueError as problem:
        first, *more = str(problem).splitlines()
        raise UsageFault("\n".join([f"--base {path}: {first}", *more])) from None


def require_free(path: Path, *, force: bool) -> None:
    """Raise before anything is measured what would be raised after it."""
    if path.is_dir():
        raise UsageFault(f"--to {path} is a folder; name the file in it")
    if not force and path.exists():
        raise FileInTheWay(
            f"{path} exists already", hint="overwrite it with --force, or name another with --to"
        )
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UsageFault(f"--to {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise CannotWrite(f"cannot write {path} (its folder is read-only)")


def render(document: Mapping[str, object]) -> str:
    """Write a document as people and git like it."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def write(path: Path, document: Mapping[str, object], *, force: bool) -> None:
    """Write the file whole or not at all; raises FileInTheWay or CannotWrite."""
    require_free(path, force=force)
    target = path.resolve()  # what a link points to is written, not the link
    temporary: str | None = None
    try:
        number, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            os.fchmod(number, _usual_mode())
            file.write(render(document) + "\n")
            file.flush()
            os.fsync(number)
        os.replace(temporary, target)
        temporary = None
    except OSError as problem:
        why = (problem.strerror or "it failed").lower()
        raise CannotWrite(f"cannot write {path} ({why})") from problem
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _usual_mode() -> int:
    """Return the mode of a new file here; a temporary one is for its owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
