"""Coefficients from the log of a Proxy whose Instance was asked one question at a time.

What a user does with `cacheroute calibrate --log` is done here to the demo's own Instance, so
that forecasts are of the machine that is there and not of the published one.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from cacheroute.client.request_lines import read_request_logs
from cacheroute.core.predict.calibration import Calibration, calibrate
from cacheroute.core.predict.coefficients import PUBLISHED, Coefficients
from cacheroute.core.predict.decode import DecodeLine, DecodeModel
from cacheroute.core.predict.lessons import learn
from cacheroute.core.predict.transfer import PullModel
from cacheroute.core.task import KVCACHE, TEXT
from cacheroute.demo.knowledge.mix import Question, make_questions

TEXT_LESSONS = 16
KV_LESSONS = 16
BASE = "published, sped up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """Questions to learn from; none of them is asked again."""

    as_text: tuple[Question, ...]
    as_kv: tuple[Question, ...]
    """Each with a whole block of KV at least."""

    def __len__(self) -> int:
        return len(self.as_text) + len(self.as_kv)

    def in_turn(self) -> list[tuple[Question, str]]:
        """Return them in the order in which they are to be asked, with the mode of each."""
        return [*((q, TEXT) for q in self.as_text), *((q, KVCACHE) for q in self.as_kv)]


def make_lessons(*, seed: int, block_tokens: int) -> Lessons:
    """Make questions of all lengths."""
    return Lessons(
        as_text=make_questions(TEXT_LESSONS, seed=seed, per_second=1.0),
        as_kv=make_questions(
            KV_LESSONS, seed=seed + 1, per_second=1.0, shortest_tokens=block_tokens
        ),
    )


def sped_up(speed: float) -> Coefficients:
    """Return the published figures as they are for an Instance that runs so many times faster.

    They are what its profile was made from, and stand where the log teaches nothing: it does
    not tell how many tokens an answer had.
    """
    decode, pull = PUBLISHED.decode, PUBLISHED.pull
    lines = (
        DecodeLine(
            batch=line.batch,
            slope_s=line.slope_s / speed,
            intercept_s=line.intercept_s / speed,
        )
        for line in decode.by_batch
    )
    return replace(
        PUBLISHED,
        decode=DecodeModel(by_batch=tuple(lines)),
        pull=PullModel(a_ms_per_gb=pull.a_ms_per_gb / speed, b_ms=pull.b_ms / speed),
    )


def learn_from(log: Path, *, speed: float) -> Calibration:
    """Fit coefficients to a request log; raises OSError, or CannotFit with a sentence."""
    lines = read_request_logs([log])
    learned = learn(lines.requests)
    return calibrate(
        prefill=[learned.by_forecast],
        decode=learned.decode,
        kv=learned.kv,
        base=sped_up(speed),
        base_name=BASE,
        of={"source": "request log", "requests": len(lines.requests)},
    )
