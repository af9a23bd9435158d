"""The knowledge demo from end to end: shelves filled, forecasts calibrated, three ways compared.

One way after the other, each with new processes, so that no two share the machine's time.
"""

import json
import sys
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cacheroute.core.predict.calibrate import CannotFit
from cacheroute.core.predict.calibration import Calibration
from cacheroute.demo.kdn.redis_peer import RedisFault
from cacheroute.demo.knowledge.asking import Done, ask_in_turn, ask_on_time
from cacheroute.demo.knowledge.figures import Run, row_of
from cacheroute.demo.knowledge.learning import learn_from, make_lessons
from cacheroute.demo.knowledge.mix import make_questions
from cacheroute.demo.knowledge.outcome import Outcome
from cacheroute.demo.knowledge.shelving import NotShelved
from cacheroute.demo.knowledge.ways import ALWAYS_TEXT, BY_FORECAST, WAYS, Way
from cacheroute.member.peer import PeerFault
from cacheroute_cli.context import Context
from cacheroute_cli.demo_console import show_in_console
from cacheroute_cli.demo_end import RequestsFailed, stay
from cacheroute_cli.demo_fleet import MODEL, demo_folder
from cacheroute_cli.diagnostics import Fault, note
from cacheroute_cli.knowledge_fleet import KnowledgeFleets, WayFleet
from cacheroute_cli.knowledge_launch import BLOCK_TOKENS, find_redis
from cacheroute_cli.knowledge_summary import Shown, show
from cacheroute_cli.progress import progress
from cacheroute_cli.supervisor.stack import Stack
from cacheroute_cli.supervisor.state import State

BANDWIDTHS_GBPS = (0.2, 1.0, 10.0)
WATCHED_GBPS = 1.0
"""Of the link of a demo to look at: here the forecast picks text as well as KV."""
REQUESTS = 32
SPEED = 12.0
PER_SECOND = 0.5
"""Requests in a second of a real GPU; as text, they keep it busy for more than half of it."""
SEED = 1
_LESSONS_SEED = 100_000
_LESSONS_GBPS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeOptions:
    """What the demo was asked to do."""

    requests: int = REQUESTS
    """To each way at each bandwidth."""
    bandwidths_gbps: Sequence[float] = BANDWIDTHS_GBPS
    """Of the link, before the speed-up."""
    speed: float = SPEED
    """Seconds of a real GPU, and of a real link, in one second."""
    keep: bool = False
    seed: int = SEED


class DemoFailed(Fault):
    """Something that the demo itself needs did not work."""

    code = "demo.failed"


@contextmanager
def _demo(options: KnowledgeOptions) -> "Iterator[_Demo]":
    redis_program = find_redis()
    with demo_folder(State()) as folder, Stack(tethered=True) as stack:
        note("starting a Redis, a knowledge node, a Scheduler, a Proxy and a demo Instance")
        fleets = KnowledgeFleets(stack, folder, redis_program=redis_program, speed=options.speed)
        yield _Demo(stack, folder, fleets, options)


@contextmanager
def _telling_where_logs_are(folder: Path) -> Iterator[None]:
    try:
        yield
    except (PeerFault, RedisFault, NotShelved, CannotFit, OSError) as problem:
        raise DemoFailed(
            f"the knowledge demo cannot go on: {problem}",
            hint=f"logs are in {folder} until the next demo",
        ) from problem


def watch_knowledge(options: KnowledgeOptions) -> int:
    """Ask by forecast, over and over, until the console is left; returns its exit code."""
    gbps = options.bandwidths_gbps[0] if len(options.bandwidths_gbps) == 1 else WATCHED_GBPS
    with _demo(options) as demo:
        with _telling_where_logs_are(demo.folder):
            demo.prepare()
            fleet = demo.up(BY_FORECAST, gbps)
        return demo.show(fleet)


def run_knowledge_demo(context: Context, options: KnowledgeOptions) -> None:
    """Run it and print what came of it; raises a Fault."""
    began_s = time.monotonic()
    with _demo(options) as demo:
        with _telling_where_logs_are(demo.folder):
            calibration = demo.prepare()
            runs = demo.compare()
        took_s = time.monotonic() - began_s
        show(
            context,
            Shown(
                runs=runs,
                calibration=calibration,
                speed=options.speed,
                per_second=PER_SECOND,
                took_s=took_s,
            ),
        )
        failures = sum(row_of(run).failures for run in runs)
        if options.keep:
            demo.stay()
        if failures:
            raise RequestsFailed(
                f"{failures} of {sum(len(run.outcomes) for run in runs)} requests failed",
                hint=f"logs are in {demo.folder} until the next demo",
            )
    if not options.keep and sys.stderr.isatty():
        note("next     cacheroute demo --knowledge --keep   leaves it up to look around")


class _Demo:
    """One run, step by step."""

    def __init__(
        self, stack: Stack, folder: Path, fleets: KnowledgeFleets, options: KnowledgeOptions
    ) -> None:
        self.folder = folder
        self._stack = stack
        self._fleets = fleets
        self._options = options
        self._questions = make_questions(options.requests, seed=options.seed, per_second=PER_SECOND)
        self._coefficients = folder / "coefficients.json"
        self._last: WayFleet | None = None

    def prepare(self) -> Calibration:
        """Fill the shelves, and learn how fast the Instance is from other questions."""
        lessons = make_lessons(seed=_LESSONS_SEED, block_tokens=BLOCK_TOKENS)
        asked = [*self._questions, *lessons.as_kv]
        total = len(asked) + len(lessons.as_text)
        with self._fleets.builder() as url, progress("knowledge", total, "texts") as one_more:
            for questions, builder_url in ((asked, url), (lessons.as_text, None)):
                self._stack.signals.run(
                    self._fleets.shelf.put(
                        questions,
                        builder_url=builder_url,
                        model=MODEL,
                        block_tokens=BLOCK_TOKENS,
                        on_done=one_more,
                    )
                )
        self._fleets.open_scheduler()
        log = self.folder / "lessons.jsonl"
        self._set_link(_LESSONS_GBPS)
        fleet = self._fleets.up(ALWAYS_TEXT, gbps=_LESSONS_GBPS, request_log=log)
        with progress("calibrate", len(lessons)) as one_more:
            self._stack.signals.run(
                ask_in_turn(
                    lessons.in_turn(),
                    base_url=self._fleets.scheduler_url,
                    model=MODEL,
                    on_done=lambda _: one_more(),
                )
            )
        # A log is whole when its writer has ended.
        self._fleets.down(fleet)
        calibration = learn_from(log, speed=self._options.speed)
        document = calibration.coefficients.as_mapping()
        self._coefficients.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        return calibration

    def compare(self) -> list[Run]:
        """Ask the same questions in each way at each bandwidth."""
        return [
            self._compare(way, gbps) for gbps in self._options.bandwidths_gbps for way in WAYS
        ]  # fmt: skip

    def up(self, way: Way, gbps: float) -> WayFleet:
        """Start a Proxy and an Instance for a way, in the place of those of the last one."""
        if self._last is not None:
            self._fleets.down(self._last)
        self._set_link(gbps)
        self._last = self._fleets.up(way, gbps=gbps, coefficients=self._coefficients)
        return self._last

    def show(self, fleet: WayFleet) -> int:
        """Ask by forecast until the console is left; returns its exit code."""
        return show_in_console(
            self._stack,
            lambda: self._ask(BY_FORECAST, on_done=lambda _: None),
            control_url=fleet.control_url,
            scheduler_url=self._fleets.scheduler_control_url,
        )

    def stay(self) -> None:
        """Say where to look, and leave the last fleet up until a signal."""
        control_url = "" if self._last is None else self._last.control_url
        stay(
            self._stack,
            (
                f"up       {self._fleets.scheduler_url}/v1   until Ctrl-C",
                f'ask      with "RAG": true and "knowledge_ids": ["{self._questions[0].kid}"]',
                f"look     cacheroute status --proxy-url {control_url}",
                f"         curl {control_url}/debug/decisions",
            ),
        )

    def _compare(self, way: Way, gbps: float) -> Run:
        self.up(way, gbps)
        with progress(f"{way.name} at {gbps:g} Gb/s", len(self._questions)) as one_more:
            asking = self._ask(way, on_done=lambda _: one_more())
            outcomes = self._stack.signals.run(asking)
        return Run(bandwidth_gbps=gbps, way=way.name, outcomes=outcomes)

    def _ask(self, way: Way, *, on_done: Done) -> Coroutine[Any, Any, list[Outcome]]:
        return ask_on_time(
            self._questions,
            base_url=self._fleets.scheduler_url,
            model=MODEL,
            mode=way.mode,
            speed=self._options.speed,
            on_done=on_done,
        )

    def _set_link(self, gbps: float) -> None:
        """Empty the Redis and set the bandwidth, while no Instance is there."""
        shelf = self._fleets.shelf
        self._stack.signals.run(shelf.empty_redis())
        self._stack.signals.run(shelf.set_link(bandwidth_mbps=self._fleets.real_mbps(gbps)))
