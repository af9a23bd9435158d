"""Bytes read as the console's document, and the pool's summary read as a part of it."""

from collections.abc import Mapping

import msgspec

from cacheroute.wire.console import ConsoleSnapshot, Pool, Unchanged

_READ_SNAPSHOT = msgspec.json.Decoder(ConsoleSnapshot)
_READ_UNCHANGED = msgspec.json.Decoder(Unchanged)
_UNCHANGED_BYTES = 400


class NotASnapshot(ValueError):
    """The bytes are no document of this kind."""


def read_snapshot(
    document: bytes, known: ConsoleSnapshot | None = None
) -> ConsoleSnapshot | Unchanged:
    """Read an answer; raises NotASnapshot with what is wrong.

    Who the Instances are is taken from the last document, `known`, where it is left out.
    """
    try:
        if len(document) <= _UNCHANGED_BYTES and b'"unchanged"' in document:
            return _READ_UNCHANGED.decode(document)
        found = _READ_SNAPSHOT.decode(document)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        raise NotASnapshot(str(problem)) from problem
    if found.identities is not None:
        return found
    if known is None or known.identities is None or known.who != found.who:
        raise NotASnapshot("it leaves out who the Instances are, and nobody has said it before")
    return msgspec.structs.replace(found, identities=known.identities)


def pool_of(summary: Mapping[str, object]) -> Pool:
    """Take out of `pool_resource` what a console shows; its shape differs between versions."""

    def at(*path: str) -> object:
        value: object = summary
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    return Pool(
        admission_state=_text(at("pool_admission_state")),
        admission_reason=_text(at("pool_admission_reason")),
        accepting=_count(at("instances", "accepting")),
        degraded=_count(at("instances", "degraded")),
        rejecting=_count(at("instances", "rejecting")),
        inflight=_count(at("load", "inflight_total")),
        qps_1m=_number(at("load", "qps_1m_total")),
        prepare_queue_depth=_count(at("load", "prepare_queue_depth")),
        ready_queue_depth=_count(at("load", "ready_queue_depth")),
        capacity=_count(at("load", "capacity")),
        cpu_util_avg=_number(at("utilization", "cpu_avg")),
        memory_used_percent=_percent(at("utilization", "memory_used_ratio")),
        gpu_util_avg=_number(at("utilization", "gpu_util_avg")),
        gpu_mem_used_percent=_percent(at("utilization", "gpu_mem_used_ratio")),
        network_rx_mbps=_number(at("utilization", "network_rx_mbps_total")),
        network_tx_mbps=_number(at("utilization", "network_tx_mbps_total")),
    )


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _percent(value: object) -> float | None:
    ratio = _number(value)
    return None if ratio is None else 100 * ratio


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
