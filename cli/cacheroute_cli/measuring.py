"""An Instance measured from a command: how far it is, and its faults with our exit codes."""

import os
from contextlib import ExitStack
from dataclasses import dataclass

from cacheroute.client.faults import ControlFault, NotUnderstood, Refused, TimedOut, Unreachable
from cacheroute.client.measure import NoUsage, measure
from cacheroute.client.measure_plan import Plan
from cacheroute.console.amounts import render_duration
from cacheroute.formats.address import parse_base_url
from cacheroute.wire.headers import can_carry
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, Fault, UsageFault
from cacheroute_cli.evidence import Evidence
from cacheroute_cli.progress import progress
from cacheroute_cli.supervisor.signals import Signals


class InstanceUnreachable(Fault):
    """Nobody answers at the endpoint, or not in time."""

    code = "instance.unreachable"
    exit = Exit.UNREACHABLE


class InstanceRefused(Fault):
    """The Instance said no, or failed."""

    code = "instance.refused"


class InstanceForbade(Fault):
    """The Instance wants a key, or a better one."""

    code = "instance.forbidden"
    exit = Exit.NOT_ALLOWED


class NoSuchModel(Fault):
    """The Instance has no such model, or nothing at this address."""

    code = "instance.not_found"
    exit = Exit.NOT_FOUND


class InstanceNotUnderstood(Fault):
    """What answers cannot be measured."""

    code = "instance.not_understood"
    exit = Exit.NOT_UNDERSTOOD


class _Meter:
    """Shows how far it is, once it is known how long it takes."""

    def __init__(self, stack: ExitStack, model: str, total: int) -> None:
        self._stack = stack
        self._model = model
        self._total = total
        self._early = 0
        self._advance = self._wait

    def begin(self, expected_s: float) -> None:
        what = f"measuring {self._model}, about {render_duration(expected_s)}"
        self._advance = self._stack.enter_context(progress(what, self._total))
        for _ in range(self._early):
            self._advance()

    def one_more(self) -> None:
        self._advance()

    def _wait(self) -> None:
        self._early += 1


def evidence_of_instance(
    context: Context, *, endpoint: str, model: str | None, plan: Plan, api_key_env: str | None
) -> Evidence:
    """Measure an Instance; raises a Fault for each way that it does not play its part."""
    if model is None:
        raise UsageFault("--endpoint needs --model, the name that the Instance serves it under")
    try:
        url = parse_base_url(endpoint).url
    except ValueError as problem:
        raise UsageFault(f"--endpoint: {problem}") from None
    api_key = None if api_key_env is None else _key(api_key_env)
    with Signals() as signals, ExitStack() as stack:
        meter = _Meter(stack, model, plan.requests)
        try:
            found = signals.run(
                measure(
                    url,
                    model,
                    plan,
                    api_key=api_key,
                    connect_s=context.timeout_s,
                    on_start=meter.begin,
                    on_answer=meter.one_more,
                )
            )
        except ControlFault as fault:
            raise _ours(fault) from fault
    return Evidence(
        source="endpoint",
        model=model,
        requests=found.requests,
        prefill=(found.prefill,),
        decode=found.decode,
        left_out=found.left_out,
        way_out="the Instance should have nothing else to do; more --lengths, --samples or "
        "--time-limit help as well",
    )


def _key(name: str) -> str:
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageFault(f"--api-key-env: the variable {name} is not set")
    if not can_carry(key):
        raise UsageFault(f"--api-key-env: {name} holds what no HTTP header can carry")
    return key


@dataclass(frozen=True, slots=True)
class _Verdict:
    kind: type[Fault]
    hint: str


_BY_STATUS = {
    401: _Verdict(InstanceForbade, "name the variable that holds its key with --api-key-env"),
    404: _Verdict(NoSuchModel, "is the model called that there? see its /v1/models"),
    429: _Verdict(InstanceRefused, "measure it when it has nothing else to do"),
}
_BY_STATUS |= {403: _BY_STATUS[401], 503: _BY_STATUS[429]}
_ANY_STATUS = _Verdict(InstanceRefused, "is this where an Instance serves /v1/chat/completions?")


def _ours(fault: ControlFault) -> Fault:
    match fault:
        case Unreachable():
            verdict = _Verdict(
                InstanceUnreachable, "is it running? --endpoint is where an Instance serves /v1"
            )
        case TimedOut():
            verdict = _Verdict(InstanceUnreachable, "ask for shorter --lengths")
        case Refused():
            verdict = _BY_STATUS.get(fault.status, _ANY_STATUS)
        case NoUsage():
            verdict = _Verdict(
                InstanceNotUnderstood,
                "vLLM, SGLang and llama.cpp count tokens when stream_options.include_usage asks "
                "them to; with others, learn from a Scheduler's requests: --log",
            )
        case NotUnderstood():
            verdict = _Verdict(
                InstanceNotUnderstood, "is this where an Instance serves /v1/chat/completions?"
            )
        case _:
            verdict = _Verdict(InstanceRefused, "its own log says more")
    return verdict.kind(fault.message, hint=verdict.hint, url=fault.url)
