"""A recording on disk: gzip members of JSON lines, each member a few seconds that stand alone.

The first line of the file says what it is; any gzip tool can unpack it. The header of each
member says how long it is and what time it covers, so a reader finds any second without
unpacking what is before, and a member that is cut off at the end of the file is left out.
"""

import struct
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

FORMAT = "cacheroute.recording"
VERSION = 1
MAX_PART_BYTES = 256 * 1024 * 1024
"""Largest part that is unpacked."""
MAX_PARTS = 1_000_000

_HEAD = struct.Struct("<4sIBBH")
_GZIP = b"\x1f\x8b\x08\x04"
_EXTRA = struct.Struct("<2sHIIdd")
_MARK = b"CR"
_EXTRA_LENGTH = _EXTRA.size
_TAIL = struct.Struct("<II")


class RecordingProblem(ValueError):
    """A file that is no recording, or not one of ours; the message is a sentence."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line."""

    format: str = FORMAT
    version: int = VERSION
    name: str = ""
    """What was looked at."""
    started_at: float = 0.0
    """Seconds since the epoch."""
    interval_s: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One member, as its header tells."""

    at: int
    """Where it begins, in bytes."""
    size: int
    first_look: int
    """Number of its first look in the recording."""
    looks: int
    from_s: float
    """Seconds since the epoch of its first look, and of its last."""
    to_s: float


def packed(lines: Sequence[bytes], *, looks: int, from_s: float, to_s: float) -> bytes:
    """Return a member with these lines."""
    plain = b"".join(line + b"\n" for line in lines)
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = squeeze.compress(plain) + squeeze.flush()
    size = _HEAD.size + _EXTRA_LENGTH + len(body) + _TAIL.size
    return b"".join(
        (
            _HEAD.pack(_GZIP, 0, 0, 255, _EXTRA_LENGTH),
            _EXTRA.pack(_MARK, _EXTRA_LENGTH - 4, size, looks, from_s, to_s),
            body,
            _TAIL.pack(zlib.crc32(plain), len(plain) & 0xFFFFFFFF),
        )
    )


class Recording:
    """A recording that is read; raises RecordingProblem where it is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as problem:
            raise RecordingProblem(
                f"{path} cannot be read ({problem.strerror or problem})"
            ) from problem
        try:
            self.parts, self.is_torn = self._index()
            self.header = self._header()
        except BaseException:
            self._file.close()
            raise
        self._starts = [part.first_look for part in self.parts]
        self._begins = [part.from_s for part in self.parts]

    @property
    def looks(self) -> int:
        """How many looks it holds."""
        last = self.parts[-1]
        return last.first_look + last.looks

    @property
    def first_s(self) -> float:
        """When it begins, in seconds since the epoch."""
        return next((part.from_s for part in self.parts if part.looks), self.header.started_at)

    @property
    def last_s(self) -> float:
        """When it ends."""
        return next((part.to_s for part in reversed(self.parts) if part.looks), self.first_s)

    def part_of(self, look: int) -> int:
        """Return the number of the part that a look is in."""
        return max(0, bisect_right(self._starts, look) - 1)

    def part_at(self, wall_s: float) -> int:
        """Return the number of the last part that had begun at that time."""
        return max(0, bisect_right(self._begins, wall_s) - 1)

    def lines(self, number: int) -> list[bytes]:
        """Unpack a part; raises RecordingProblem when it is damaged."""
        part = self.parts[number]
        self._file.seek(part.at)
        raw = self._file.read(part.size)
        squeeze = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            plain = squeeze.decompress(raw, MAX_PART_BYTES)
        except zlib.error as problem:
            raise RecordingProblem(
                f"{self.path} is damaged at byte {part.at} ({problem})"
            ) from problem
        if squeeze.unconsumed_tail or not squeeze.eof:
            raise RecordingProblem(f"{self.path} is damaged at byte {part.at}")
        return plain.splitlines()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _index(self) -> tuple[list[Part], bool]:
        file = self._file
        length = file.seek(0, 2)
        parts: list[Part] = []
        at = looks = 0
        while at < length and len(parts) < MAX_PARTS:
            file.seek(at)
            head = file.read(_HEAD.size + _EXTRA_LENGTH)
            part = _part_of(head, at, looks)
            if part is None or at + part.size > length:
                break
            parts.append(part)
            at, looks = at + part.size, looks + part.looks
        if not parts:
            raise RecordingProblem(f"{self.path} is no recording of `cacheroute record`")
        return parts, at < length

    def _header(self) -> Header:
        first = next(iter(self.lines(0)), b"")
        try:
            header = msgspec.json.decode(first, type=Header)
        except msgspec.MsgspecError as problem:
            raise RecordingProblem(
                f"{self.path} is no recording of `cacheroute record`"
            ) from problem
        if header.format != FORMAT:
            raise RecordingProblem(f"{self.path} is no recording of `cacheroute record`")
        if header.version > VERSION:
            raise RecordingProblem(
                f"{self.path} is of version {header.version}; this program reads up to {VERSION}"
            )
        return header


def _part_of(head: bytes, at: int, looks: int) -> Part | None:
    if len(head) < _HEAD.size + _EXTRA_LENGTH:
        return None
    kind, _, _, _, extra = _HEAD.unpack_from(head)
    mark, _, size, count, from_s, to_s = _EXTRA.unpack_from(head, _HEAD.size)
    if kind != _GZIP or mark != _MARK or extra != _EXTRA_LENGTH:
        return None
    if size < _HEAD.size + _EXTRA_LENGTH + _TAIL.size:
        return None
    return Part(at=at, size=size, first_look=looks, looks=count, from_s=from_s, to_s=to_s)
