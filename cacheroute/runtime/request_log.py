"""One line of JSON per request, written later and elsewhere.

A request only appends a record to a list. A thread writes what has gathered, so that a slow
disk slows nobody; when it cannot keep up, lines are dropped and counted. No prompt text.
"""

import asyncio
import logging
from pathlib import Path

import msgspec

from cacheroute.stores.line_file import add_lines

log = logging.getLogger("cacheroute.request_log")

FLUSH_EVERY_S = 0.5
_WAITING_MAX = 50_000


class KnowledgeRecord(msgspec.Struct, omit_defaults=False):
    """What was predicted of a Scheduler's request, and what came of it."""

    path: str | None
    """How its knowledge went: `kv_inject`, `text_inject`, or why neither; null without any."""
    predicted_ttft_ms: float | None
    """From the choice of the Instance to the first token."""
    ttft_ms: float | None
    """The same as it was."""
    service_ms: float | None
    """From being sent to the first token: what the Instance took."""
    predicted_service_ms: float | None
    residual_tokens: int | None
    """Prompt tokens to be computed."""
    reused_tokens: int | None
    """Prompt tokens whose KV was brought."""
    alone: bool
    """Whether no other prompt was at the Instance, so that `service_ms` is its own."""


class RequestRecord(msgspec.Struct, omit_defaults=False):
    """How one request went. Times are milliseconds; null is not known."""

    at: float
    """Arrival, seconds since the epoch."""
    request_id: str
    endpoint: str
    model: str | None
    stream: bool
    caller: str
    instance: str | None
    """Who answered, or failed last."""
    attempts: int
    status: int | None
    """What the client was sent; null when it left before anything was."""
    outcome: str
    """`ok`, or the cause of the failure as in `kronaxis_router_errors_total`."""
    ttft_ms: float | None
    e2e_ms: float
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    bytes_in: int
    bytes_out: int
    error: str | None
    knowledge: KnowledgeRecord | None = None

    @classmethod
    def turned_away(
        cls,
        *,
        at: float,
        request_id: str,
        endpoint: str,
        caller: str,
        status: int,
        outcome: str,
        bytes_in: int,
        error: str,
    ) -> "RequestRecord":
        """Record a request that was refused before an Instance was looked for."""
        return cls(
            at, request_id, endpoint, None, False, caller, None, 0, status, outcome,
            None, 0.0, None, None, None, bytes_in, 0, error,
        )  # fmt: skip


class RequestLog:
    """Gathers records and writes them to a file that is rotated by size."""

    def __init__(self, *, max_bytes: int, keep: int) -> None:
        self.path: Path | None = None
        """Where the lines go; None keeps none."""
        self._max_bytes = max_bytes
        self._keep = keep
        self._waiting: list[RequestRecord] = []
        self._encoder = msgspec.json.Encoder()
        self._is_failing = False
        self.dropped = 0
        """Records lost because they could not be written."""
        self.written = 0

    def add(self, record: RequestRecord) -> None:
        """Keep a record for the next flush."""
        if self.path is None:
            return
        if len(self._waiting) >= _WAITING_MAX:
            self.dropped += 1
        else:
            self._waiting.append(record)

    async def run(self) -> None:
        """Flush until cancelled, and once more then."""
        try:
            while True:
                await asyncio.sleep(FLUSH_EVERY_S)
                if self._waiting:
                    batch, self._waiting = self._waiting, []
                    await asyncio.to_thread(self._write, batch)
        finally:
            self.flush()

    def flush(self) -> None:
        """Write what has gathered, now."""
        batch, self._waiting = self._waiting, []
        if batch:
            self._write(batch)

    def _write(self, batch: list[RequestRecord]) -> None:
        path = self.path
        if path is None:
            return
        data = self._encoded(batch)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._rotate(path, len(data))
            add_lines(path, data)
        except OSError as error:
            self.dropped += len(batch)
            if not self._is_failing:
                self._is_failing = True
                log.warning("request_log.failed path=%s reason=%s", path, error.strerror)
            return
        self.written += len(batch)
        if self._is_failing:
            self._is_failing = False
            log.warning("request_log.recovered path=%s lost=%d", path, self.dropped)

    def _encoded(self, batch: list[RequestRecord]) -> bytes:
        try:
            return self._encoder.encode_lines(batch)
        except UnicodeEncodeError:
            pass  # half a letter in one of them must not cost the others
        lines: list[bytes] = []
        for record in batch.copy():
            try:
                lines.append(self._encoder.encode(record) + b"\n")
            except UnicodeEncodeError:
                batch.remove(record)
                self.dropped += 1
        return b"".join(lines)

    def _rotate(self, path: Path, adding: int) -> None:
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            return
        if size + adding <= self._max_bytes or not size:
            return
        for number in range(self._keep - 1, 0, -1):
            older = path.with_name(f"{path.name}.{number}")
            if older.exists():
                older.replace(path.with_name(f"{path.name}.{number + 1}"))
        if self._keep > 0:
            path.replace(path.with_name(f"{path.name}.1"))
        else:
            path.unlink()
