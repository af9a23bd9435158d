"""The command `record`: look at a Proxy again and again, and keep what it says."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from cacheroute.client.control import AsyncControlClient
from cacheroute.console.amounts import render_duration
from cacheroute.sources.live import LiveSource
from cacheroute.sources.recorder import Recorder
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, Fault, note
from cacheroute_cli.output import print_document, print_text
from cacheroute_cli.supervisor.signals import Signals, Stopped

SCHEMA = "cacheroute.record/1"


class CannotRecord(Fault):
    """The file cannot be written."""

    code = "record.file"
    exit = Exit.FAILED


class NothingRecorded(Fault):
    """The Proxy never answered."""

    code = "record.nothing"
    exit = Exit.UNREACHABLE


def default_file(now: datetime) -> Path:
    """Return a name that sorts by time."""
    return Path(f"cacheroute-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}.rec")


def record(context: Context, path: Path, *, for_s: float | None, interval_s: float) -> None:
    """Record until the time is over or somebody stops it; either way the file is whole."""
    client = AsyncControlClient(
        context.proxy_url, token=context.token, timeout_s=context.timeout_s, readonly=True
    )
    source = LiveSource(client)
    try:
        recorder = Recorder(path, source, now_s=time.time(), interval_s=interval_s)
    except OSError as problem:
        raise CannotRecord(
            f"{path} cannot be written ({problem.strerror or problem})",
            hint="name another file with -d" if path.exists() else None,
        ) from problem
    began_s = time.monotonic()
    note(f"recording {context.proxy_url} to {path}; Ctrl-C ends it")
    try:
        try:
            # A signal is how a recording ends.
            with suppress(Stopped), Signals() as signals:
                signals.run(_looks(recorder, source, for_s=for_s, interval_s=interval_s))
        finally:
            recorder.close(time.time())
    except OSError as problem:
        raise CannotRecord(f"{path} cannot be written ({problem.strerror or problem})") from problem
    _report(context, path, recorder, time.monotonic() - began_s)


async def _looks(
    recorder: Recorder, source: LiveSource, *, for_s: float | None, interval_s: float
) -> None:
    loop = asyncio.get_running_loop()
    began_s = due_s = loop.time()
    trouble: str | None = None
    try:
        while for_s is None or due_s - began_s < for_s:
            await asyncio.sleep(max(0.0, due_s - loop.time()))
            fault = await recorder.look(time.time())
            if fault is not None and fault.message != trouble:
                note(f"{fault.message}; trying again")
            trouble = None if fault is None else fault.message
            due_s = max(due_s + interval_s, loop.time())
    finally:
        await source.close()


def _report(context: Context, path: Path, recorder: Recorder, took_s: float) -> None:
    content: Mapping[str, object] = {
        "context": context.name,
        "proxy_url": context.proxy_url,
        "file": str(path),
        "looks": recorder.looks,
        "gaps": recorder.gaps,
        "took_s": round(took_s, 3),
        "bytes": recorder.written_bytes,
    }
    if context.output in ("json", "jsonl"):
        print_document(SCHEMA, content)
    else:
        looks = "1 look" if recorder.looks == 1 else f"{recorder.looks} looks"
        print_text(
            f"{path}: {looks} in {render_duration(took_s)}, {recorder.gaps} failed, "
            f"{recorder.written_bytes / 1024:.0f} KiB"
        )
        note(f"see it with: cacheroute tui --replay {path}")
    if not recorder.looks:
        raise NothingRecorded(f"{context.proxy_url} has never answered; {path} holds no look")
