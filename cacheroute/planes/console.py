"""What consoles ask for every second, made once for all of them and only when there is news.

A revision moves when anything but the time does. Whoever has the newest one is told so in a
few bytes; whoever knows the Instances is not told again who they are.
"""

from dataclasses import dataclass, field

import msgspec

from cacheroute.core.clock import Instant
from cacheroute.core.pool_snapshot import PoolSnapshot
from cacheroute.planes import console_document as documents
from cacheroute.planes.control_owner import ControlOwner
from cacheroute.planes.debug import instance_loads, instance_rows
from cacheroute.planes.predictions import instance_predictions
from cacheroute.planes.summary import limits, ttl_s
from cacheroute.wire import strict_json
from cacheroute.wire.console import ConsoleSnapshot, Unchanged

JsonObject = dict[str, object]

_MIN_AGE_S = 0.1
"""A document so young, of the newest revision, is handed to the next reader too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One document, and what becomes of it on the wire."""

    rev: int
    who: int
    made_mono_s: float
    snapshot: ConsoleSnapshot
    _written: dict[bool, bytes] = field(default_factory=dict)

    def written(self, *, knows: bool = False) -> bytes:
        """Write it down; `knows` leaves out who the Instances are."""
        written = self._written.get(knows)
        if written is None:
            snapshot = self.snapshot
            if knows:
                snapshot = msgspec.structs.replace(snapshot, identities=None)
            written = self._written[knows] = encoded(snapshot)
        return written


class ConsolePages:
    """The documents of one Proxy."""

    def __init__(self, owner: ControlOwner) -> None:
        self._owner = owner
        # Where the numbers begin differs from run to run, so that none is taken for another's.
        self._base = owner.started.wall_ms
        self.run = str(self._base)
        self._rev = self._who = self._base
        self._seen: list[object] = []
        self._identity: list[object] = []
        self._frame: Frame | None = None

    def answer(self, since: int | None, who: int | None) -> tuple[int, bytes | None]:
        """Return the newest revision and its document; None where `since` is that revision.

        Who the Instances are is left out where `who` says that it is known.
        """
        now = self._owner.clock.now()
        self._note(now)
        if since == self._rev:
            return self._rev, None
        frame = self._made(now)
        return frame.rev, frame.written(knows=who == frame.who)

    def frame(self, max_age_s: float) -> Frame:
        """Return a document that is no older than that: readers of a stream share one."""
        now = self._owner.clock.now()
        frame = self._frame
        if frame is not None and 0 <= now.mono_s - frame.made_mono_s < max_age_s:
            return frame
        self._note(now)
        return self._made(now)

    def unchanged(self) -> bytes:
        """Write that nothing but the time has moved."""
        now = self._owner.clock.now()
        uptime_s = max(0.0, now.mono_s - self._owner.started.mono_s)
        return encoded(
            Unchanged(
                rev=self._rev,
                unchanged=True,
                generated_at=now.wall_s,
                run=self.run,
                uptime_s=uptime_s,
            )
        )

    def instance(self, instance_id: str) -> JsonObject | None:
        """Build `GET /v1/console/instance?id=`; None for an unknown id."""
        owner, now = self._owner, self._owner.clock.now()
        member = owner.pool.members.get(instance_id)
        if member is None:
            return None
        view = owner.pool.view(member, now)
        alone = PoolSnapshot(version=owner.pool.version, taken_at=now, views=(view,))
        loads = instance_loads(
            alone,
            include_dead=True,
            ttl_s=ttl_s(owner),
            weights=owner.weights.as_mapping(),
            limits=limits(owner),
        )
        return {
            "ok": True,
            "generated_at": now.wall_s,
            "instance": instance_rows(alone, include_dead=True, raw=True)[0],
            "loads": loads,
            "predictions": instance_predictions(owner.predictions, member),
        }

    def _made(self, now: Instant) -> Frame:
        frame = self._frame
        if frame is not None and frame.rev == self._rev:
            age_s = now.mono_s - frame.made_mono_s
            if 0 <= age_s < _MIN_AGE_S:
                return frame
        snapshot = documents.document(
            self._owner,
            now,
            rev=self._rev,
            run=self.run,
            who=self._who,
            # A fifteenth of the cost of a document, and seldom another one.
            identities=frame.snapshot.identities if frame and frame.who == self._who else None,
        )
        self._frame = Frame(rev=self._rev, who=self._who, made_mono_s=now.mono_s, snapshot=snapshot)
        return self._frame

    def _note(self, now: Instant) -> None:
        seen = documents.fingerprint(self._owner, now)
        if seen != self._seen or not self._seen:
            self._rev += 1
            self._seen = seen
            identity = documents.identity(self._owner)
            if identity != self._identity:
                self._who += 1
                self._identity = identity


def encoded(document: object) -> bytes:
    """Write a document as JSON that every reader takes."""
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:  # half a letter, in the name of a model for one
        return strict_json.encode(msgspec.to_builtins(document))
