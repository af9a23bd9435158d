"""What runs on this host: every process of a stack, or started by hand, and how it is."""

from collections.abc import Mapping
from dataclasses import dataclass

from cacheroute.console import cast
from cacheroute.console.amounts import render_text
from cacheroute.console.cells import UNKNOWN
from cacheroute.console.columns import NAME_FLOOR, Column, Kind, Tone

_TONES: dict[str, Tone] = {
    "running": "good",
    "reused": "good",
    "starting": "warn",
    "backoff": "warn",
    "stopping": "warn",
    "failed": "bad",
    "orphan": "bad",
    "gone": "bad",
}
_SUPERVISOR = "the supervisor"
_NO_PROCESS = "Nothing of it runs."


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRow:
    """One process; what nobody knows is None."""

    name: str
    kind: str
    stack: str | None
    """None when it was started by hand."""
    state: str
    ready: bool | None
    pid: int | None
    restarts: int | None
    uptime_s: float | None
    cpu_percent: float | None
    """Of one core."""
    rss_mb: float | None
    ports: Mapping[str, int]
    """By what for."""
    urls: Mapping[str, str]
    last_exit: int | None
    """Negative: by which signal."""
    why: str | None
    """What stands in the way of it being ready."""
    log: str | None
    argv: tuple[str, ...]


def _ports(row: ProcessRow) -> str:
    return " ".join(str(port) for port in row.ports.values()) or UNKNOWN


def _ready_tone(row: ProcessRow) -> Tone:
    return "warn" if row.ready is False and row.state == "running" else "plain"


COLUMNS: tuple[Column[ProcessRow], ...] = (
    cast.word("name", "NAME", "What it is called.", gives_way=True, floor=NAME_FLOOR),
    cast.word("kind", "KIND", "proxy, instance, attach, agent, kdn, scheduler or redis.", rank=5),
    cast.word("stack", "STACK", "Stack that it belongs to.", unknown="It was started by hand.",
        lacks=True,
        wide=True),
    cast.count("pid", "PID", "Its process id.", unknown=_NO_PROCESS, lacks=True),
    cast.word(
        "state", "STATE",
        "waiting, starting, running, backoff (ended, and is started again soon), stopping, "
        "stopped (by hand), exited, failed (is not started again), reused (somebody else's), "
        "orphan (its supervisor is gone) or gone.",
        tone=lambda row: _TONES.get(row.state, "dim"),
    ),
    cast.yes("ready", "READY", "Whether it answers, and the pool has it.", tone=_ready_tone,
        unknown="Nobody looks.", lacks=True),
    cast.count("restarts", "RESTARTS", "How often it was started again by itself.",
        source=_SUPERVISOR, unknown="Nobody counts.", lacks=True, rank=1),
    cast.duration("uptime_s", "UPTIME", "For how long it has run.", unknown=_NO_PROCESS, lacks=True,
        aliases=("up",)),
    cast.percent("cpu_percent", "CPU%", "Use of one core over the last seconds, with all that it "
        "started.", source=_SUPERVISOR, unknown="It was not looked at twice yet.",
        aliases=("cpu",), rank=4),
    cast.memory("rss_mb", "RSS", "Memory, with all that it started.", source=_SUPERVISOR,
        unknown=_NO_PROCESS, lacks=True, aliases=("memory",), rank=3),
    Column(key="ports", header="PORTS", text=_ports, doc="Where it listens.", gives_way=True,
        floor=12,
        matched=lambda row: list(map(str, row.ports.values()))),
    Column(key="last_exit", header="EXIT", text=lambda row: _exit(row.last_exit), right=True,
        doc="How it ended last; negative is by which signal.", source=_SUPERVISOR,
        unknown="It has not ended.", lacks=True, wide=True),
    cast.word("why", "WHY",
        "What stands in the way of it being ready; of one started again, how it ended before.",
        text=lambda row: render_text(_told(row)), matched=lambda row: _told(row) or "",
        source=_SUPERVISOR, unknown="Nothing does, and it has not ended.",
        lacks=True, gives_way=True,
        spare=True),
    cast.word("log", "LOG", "Where it writes.", wide=True,
        unknown="To the terminal that it was started from.", lacks=True),
)  # fmt: skip


def _told(row: ProcessRow) -> str | None:
    """Return why it is not ready; a restart that went well leaves no other trace."""
    if row.why is not None or row.last_exit is None or not row.restarts:
        return row.why
    return f"signal {-row.last_exit}" if row.last_exit < 0 else f"exit {row.last_exit}"


def _exit(code: int | None) -> str:
    return UNKNOWN if code is None else str(code)


PROCESSES: Kind[ProcessRow] = Kind(
    name="ps",
    noun="processes",
    columns=COLUMNS,
    name_of=lambda row: row.name,
    searched=lambda row: f"{row.name} {row.kind} {row.stack or ''}",
)
