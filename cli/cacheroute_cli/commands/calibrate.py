"""`cacheroute calibrate`: measure the fleet that is there, and write what forecasts need."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, Fault, UsageFault
from cacheroute_cli.options import with_context

if TYPE_CHECKING:
    from cacheroute.client.measure_plan import Plan
    from cacheroute.core.predict.calibration import Calibration
    from cacheroute.core.predict.coefficients import Coefficients
    from cacheroute_cli.evidence import Evidence

FILE = "coefficients.json"
STDOUT = "-"
MAX_LENGTHS = 64
MAX_TOKENS = 1_000_000

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class CannotCalibrate(Fault):
    """What was measured carries no forecast."""

    code = "calibrate.cannot_fit"
    exit = Exit.BAD_ANSWER


@app.command("calibrate")
@with_context
def calibrate(
    context: Context,
    *,
    endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Measure the Instance that serves here; it should idle."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Model to ask for, or to pick out of the logs."),
    ] = None,
    log: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Learn from a Proxy's request log instead, as often as needed.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None,
    lengths: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Tokens of the prompts to send (default: 32,64,96,192,384,768,1536,3072).",
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=100, help="Prompts of each length (default: 4)."),
    ] = None,
    context_lengths: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="N,N,...",
            help="Send them again behind so many tokens that are in the cache (default: none).",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="S", min=1, max=86400, help="Stop measuring after this time (default: 300)."
        ),
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Variable that holds the key of the endpoint."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Make the prompts from this (default: by chance)."),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Coefficients to keep where nothing was measured (default: the published ones).",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    to: Annotated[
        str, typer.Option(metavar="FILE", help="Where to write them, - for stdout.")
    ] = FILE,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Measure how fast an Instance is, and write the coefficients that forecasts are made from.

    With --endpoint it sends about 40 prompts that nobody has sent before, one after the other;
    with --log it sends nothing. What cannot be learned is kept as it was, and named.
    """
    live = {
        "--lengths": lengths,
        "--samples": samples,
        "--context": context_lengths,
        "--time-limit": time_limit,
        "--api-key-env": api_key_env,
        "--seed": seed,
    }
    if (endpoint is None) is (not log):
        raise UsageFault(
            "say what to learn from: an Instance with --endpoint, or request logs with --log",
            hint="cacheroute calibrate --endpoint http://127.0.0.1:9001 --model NAME",
        )
    if log and (idle := [name for name, value in live.items() if value is not None]):
        raise UsageFault(f"{idle[0]} goes with --endpoint: a log is not asked anything")
    from cacheroute_cli.coefficients_file import read_base, require_free

    target = None if to == STDOUT else Path(to)
    if target is not None:
        require_free(target, force=force)
    known = read_base(base)
    if endpoint is None:
        from cacheroute_cli.evidence import evidence_of_logs

        evidence = evidence_of_logs(log or [], model=model)
    else:
        from cacheroute_cli.measuring import evidence_of_instance

        evidence = evidence_of_instance(
            context,
            endpoint=endpoint,
            model=model,
            plan=_plan(lengths, samples, context_lengths, time_limit, seed),
            api_key_env=api_key_env,
        )
    base_name = "published" if base is None else "base"
    result = _fit(evidence, known, base_name=base_name)
    if target is not None:
        from cacheroute_cli.coefficients_file import write

        write(target, result.coefficients.as_mapping(), force=force)
    from cacheroute_cli.calibration import show

    show(context, result, evidence, target, base_name=base_name)


def _plan(
    lengths: str | None,
    samples: int | None,
    contexts: str | None,
    time_limit_s: float | None,
    seed: int | None,
) -> "Plan":
    from cacheroute.client.measure_plan import (
        DEFAULT_LENGTHS,
        DEFAULT_SAMPLES,
        DEFAULT_TIME_LIMIT_S,
        MAX_REQUESTS,
        Plan,
    )
    from cacheroute.core.predict.calibrate import MIN_SAMPLES, MIN_SPREAD

    plan = Plan(
        lengths=DEFAULT_LENGTHS if lengths is None else _tokens("--lengths", lengths),
        samples=samples or DEFAULT_SAMPLES,
        contexts=() if contexts is None else _tokens("--context", contexts),
        time_limit_s=time_limit_s or DEFAULT_TIME_LIMIT_S,
        seed=int.from_bytes(os.urandom(6)) if seed is None else seed,
    )
    count = len(plan.lengths) * plan.samples
    if count < MIN_SAMPLES or max(plan.lengths) < MIN_SPREAD * min(plan.lengths):
        raise UsageFault(
            f"{count} prompts of {min(plan.lengths)} to {max(plan.lengths)} tokens carry no fit: "
            f"at least {MIN_SAMPLES} are needed, the longest {MIN_SPREAD:g} times the shortest"
        )
    if plan.requests > MAX_REQUESTS:
        raise UsageFault(
            f"that is {plan.requests} requests; at most {MAX_REQUESTS} are sent: "
            "ask for fewer --lengths or --samples"
        )
    return plan


def _tokens(option: str, text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    good = all(part.isascii() and part.isdigit() and 0 < len(part) < 8 for part in parts)
    tokens = tuple(dict.fromkeys(map(int, parts))) if good else ()
    if not 0 < len(tokens) <= MAX_LENGTHS or not 0 < min(tokens) <= max(tokens) <= MAX_TOKENS:
        raise UsageFault(
            f"{option} takes up to {MAX_LENGTHS} numbers of tokens from 1 to {MAX_TOKENS}, as in "
            f"32,512,2048, and not {text[:80]!r}"
        )
    return tokens


def _fit(evidence: "Evidence", known: "Coefficients", *, base_name: str) -> "Calibration":
    from cacheroute.console.amounts import render_instant
    from cacheroute.core.predict.calibrate import CannotFit
    from cacheroute.core.predict.calibration import calibrate as fit

    of = {
        "when": render_instant(datetime.now(UTC)),
        "source": evidence.source,
        "model": evidence.model,
        "requests": evidence.requests,
    }
    try:
        return fit(
            prefill=evidence.prefill,
            decode=evidence.decode,
            kv=evidence.kv,
            base=known,
            base_name=base_name,
            of=of,
        )
    except CannotFit as problem:
        left_out = [f"left out: {what}" for what in evidence.left_out]
        raise CannotCalibrate(
            "\n".join([f"the time to first token cannot be fitted: {problem}", *left_out]),
            hint=evidence.way_out,
        ) from problem
