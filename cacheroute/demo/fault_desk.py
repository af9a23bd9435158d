"""Where faults are ordered: `POST`, `GET` and `DELETE /demo/fault`.

curl -X POST :9001/demo/fault -d '{"kind": "die_mid_stream", "after_tokens": 3, "count": 1}'
curl :9001/demo/fault
curl -X DELETE :9001/demo/fault
"""

import asyncio
from collections.abc import Callable

import msgspec

from cacheroute.dataplane.inbound import Inbound
from cacheroute.demo.body import read_json
from cacheroute.demo.faults import Fault, Faults, read_fault
from cacheroute.demo.pace import Pacer
from cacheroute.demo.refusal import JSON_HEADERS


class FaultDesk:
    """Arms faults, and makes the lasting ones come true."""

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._loop = asyncio.get_running_loop()
        self._normal_speed = pacer.speed
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.faults = Faults()
        self.refuse_for: Callable[[float], None] | None = None
        """Closes the listening socket for some seconds; None where nobody listens."""

    def strike(self) -> Fault | None:
        """Return the fault that strikes the request at hand."""
        return self.faults.strike(self._loop.time())

    def arm(self, fault: Fault) -> None:
        """Take up a fault from now on."""
        self.faults.arm(fault, self._loop.time())
        timer = self._timers.pop(fault.kind, None)
        if timer is not None:
            timer.cancel()
        match fault.kind:
            case "freeze":
                self._pacer.freeze()
            case "slow":
                self._pacer.set_speed(self._normal_speed / fault.factor)
            case "refuse" if self.refuse_for is not None and fault.for_s is not None:
                # In another turn of the loop, so that the answer to this request goes first.
                self._loop.call_soon(self.refuse_for, fault.for_s)
            case _:
                return
        if fault.for_s is not None:
            self._timers[fault.kind] = self._loop.call_later(fault.for_s, self._over, fault.kind)

    def clear(self) -> None:
        """Take every fault back; a closed listening socket opens when its time is over."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self.faults.clear()
        self._undo("freeze")
        self._undo("slow")

    # From HTTP.

    def on_post(self, inbound: Inbound) -> None:
        """Arm the fault that the body describes; raises Refusal."""
        fault = read_fault(read_json(inbound.body))
        self._answer(inbound, {"armed": fault.as_dict()})
        self.arm(fault)

    def on_get(self, inbound: Inbound) -> None:
        """Say what is armed."""
        armed = self.faults.armed(self._loop.time())
        self._answer(inbound, {"faults": [fault.as_dict() for fault in armed]})

    def on_delete(self, inbound: Inbound) -> None:
        """Take everything back."""
        self.clear()
        self._answer(inbound, {"faults": []})

    def _answer(self, inbound: Inbound, body: dict[str, object]) -> None:
        inbound.respond(200, JSON_HEADERS, msgspec.json.encode(body))

    def _over(self, kind: str) -> None:
        self._timers.pop(kind, None)
        self.faults.disarm(kind)
        self._undo(kind)

    def _undo(self, kind: str) -> None:
        if kind == "freeze" and self._pacer.frozen:
            self._pacer.thaw()
        elif kind == "slow":
            self._pacer.set_speed(self._normal_speed)
