"""The JSON document that coefficients are kept in, section by section.

What would silently predict nothing is refused: missing figures, all zeros, what is not a
number. Every problem is told at once, one sentence each. The published files may be put
together as they are; in a document of ours, a key that is not known is a problem as well.
"""

import math
from collections.abc import Mapping, Sequence

from cacheroute.core.predict.decode import DecodeLine, DecodeModel
from cacheroute.core.predict.prefill import PrefillModel
from cacheroute.core.predict.transfer import KvSize, PullModel

Section = Mapping[str, object]

SCHEMA = "cacheroute.coefficients/1"
MAX_POINTS = 1024
"""Most knots of a curve, and most batch sizes."""

_NOTES = frozenset({"unit", "note"})
_KNOWN: Mapping[str, frozenset[str]] = {
    "ttft": frozenset({"a", "b", "c", "d", "attention_s_per_pair", "floor_ms", "curve"}) | _NOTES,
    "tpot": frozenset({"a", "b", "c", "mode", "by_bs", "per_request_s"}) | _NOTES,
    "redis": frozenset({"a", "b"}) | _NOTES,
    "kv": frozenset({"network_mb_per_token", "redis_gb_per_token", "align_tokens"}) | _NOTES,
}
_SECONDS = frozenset({"s", "sec", "second", "seconds"})


class DocumentReader:
    """Reads sections and collects what is wrong; what it returns counts only without problems."""

    def __init__(self, document: Section) -> None:
        self.problems: list[str] = []
        self._document = document
        schema = document.get("schema")
        self._is_ours = schema is not None
        if self._is_ours and schema != SCHEMA:
            self._say(f"schema is {_shown(schema)}; this version reads {SCHEMA!r}.")

    def prefill(self) -> PrefillModel:
        before = len(self.problems)
        section = self._section("ttft")
        a, b, c, d = (self._number(section, "ttft", key) for key in "abcd")
        attention = self._number(section, "ttft", "attention_s_per_pair", 0.0)
        floor_ms = self._number(section, "ttft", "floor_ms", 0.0)
        self._unit(section, "ttft", is_seconds=True)
        if len(self.problems) == before:
            self._slope(a + b, attention, is_zero=not any((a, b, c, d, attention)))
        if floor_ms < 0:
            self._say(f"ttft.floor_ms must not be negative; it is {floor_ms!r}.")
        curve = self._curve(section.get("curve", []))
        return PrefillModel(
            a=a, b=b, c=c, d=d, attention_s_per_pair=attention, floor_ms=floor_ms, curve=curve
        )

    def decode(self) -> DecodeModel:
        section = self._section("tpot")
        self._unit(section, "tpot", is_seconds=True)
        if "by_bs" in section or "mode" in section:
            per_request = self._number(section, "tpot", "per_request_s", 0.0)
            lines = self._lines(section)
        else:
            per_request, slope, c = (self._number(section, "tpot", key) for key in "abc")
            lines = [DecodeLine(batch=1, slope_s=slope, intercept_s=c + per_request)]
        for line in lines if section else []:
            if not (line.slope_s or line.intercept_s or per_request):
                self._say(
                    f"tpot: slope and intercept of batch size {line.batch} are zero, "
                    "which predicts 0 ms for every token."
                )
        return DecodeModel(
            by_batch=tuple(lines) or (DecodeLine(batch=1, slope_s=0.0, intercept_s=0.0),),
            per_request_s=per_request,
        )

    def pull(self) -> PullModel:
        section = self._section("redis")
        a, b = (self._number(section, "redis", key) for key in "ab")
        self._unit(section, "redis", is_seconds=False)
        if section and not (a or b):
            self._say("redis: a and b are both zero, which predicts 0 ms for every load of KV.")
        if a < 0:
            self._say(f"redis.a must not be negative; it is {a!r}.")
        return PullModel(a_ms_per_gb=a, b_ms=b)

    def kv(self, unsized: KvSize) -> KvSize:
        if "kv" not in self._document and not self._is_ours:
            return unsized
        section = self._section("kv")
        mb = self._number(section, "kv", "network_mb_per_token")
        gb = self._number(section, "kv", "redis_gb_per_token")
        align = self._number(section, "kv", "align_tokens", float(unsized.align_tokens))
        if section and not (mb > 0 and gb > 0):
            self._say(f"kv: the KV of a token must weigh something, not {mb!r} MB and {gb!r} GB.")
        if not (align >= 1 and align == int(align)):
            self._say(f"kv.align_tokens must be a whole number of tokens, not {align!r}.")
        return KvSize(network_mb_per_token=mb, redis_gb_per_token=gb, align_tokens=int(align))

    def _slope(self, per_token: float, attention: float, *, is_zero: bool) -> None:
        if is_zero:
            self._say("ttft: a, b, c and d are all zero, which predicts 0 ms for every prompt.")
        elif per_token < 0 or attention < 0:
            self._say("ttft: a + b and attention_s_per_pair must not be below 0: longer is slower.")
        elif not per_token and not attention:
            self._say("ttft: a + b is zero, so the length of a prompt would not matter.")

    def fitted(self) -> dict[str, object]:
        facts = self._document.get("fitted", {})
        if not isinstance(facts, Mapping):
            self._say(f"fitted must be an object of facts; it is {_shown(facts)}.")
            return {}
        return {str(key): value for key, value in facts.items()}

    def _curve(self, knots: object) -> tuple[tuple[float, float], ...]:
        if not isinstance(knots, Sequence) or isinstance(knots, str) or len(knots) > MAX_POINTS:
            self._say(f"ttft.curve must be a list of at most {MAX_POINTS} pairs of tokens and ms.")
            return ()
        curve: list[tuple[float, float]] = []
        for knot in knots:
            pair = list(knot) if isinstance(knot, Sequence) and not isinstance(knot, str) else []
            numbers = [number for value in pair if (number := _finite(value)) is not None]
            if len(pair) != 2 or len(numbers) != 2 or min(numbers) < 0:
                self._say(f"ttft.curve holds {_shown(knot)}, which is not [tokens, ms].")
                return ()
            if curve and numbers[0] <= curve[-1][0]:
                self._say(f"ttft.curve must rise in tokens; {numbers[0]:g} is out of order.")
                return ()
            curve.append((numbers[0], numbers[1]))
        return tuple(curve)

    def _lines(self, section: Section) -> list[DecodeLine]:
        by_bs = section.get("by_bs")
        if not isinstance(by_bs, Mapping) or not 0 < len(by_bs) <= MAX_POINTS:
            self._say(f"tpot.by_bs must hold 1 to {MAX_POINTS} batch sizes.")
            return []
        lines: dict[int, DecodeLine] = {}
        for key, value in by_bs.items():
            name = f"tpot.by_bs.{str(key)[:32]}"
            text = str(key)
            batch = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
            if batch < 1 or batch in lines:
                self._say(f"{name} is not a batch size of its own.")
            elif not isinstance(value, Mapping):
                self._say(f"{name} must hold slope and intercept; it is {_shown(value)}.")
            else:
                lines[batch] = DecodeLine(
                    batch=batch,
                    slope_s=self._number(value, name, "slope"),
                    intercept_s=self._number(value, name, "intercept"),
                )
        return [lines[batch] for batch in sorted(lines)]

    def _section(self, name: str) -> Section:
        section = self._document.get(name)
        if not isinstance(section, Mapping) or not section:
            self._say(f"{name} is missing." if not section else f"{name} must be an object.")
            return {}
        if self._is_ours:
            for key in sorted(str(key)[:64] for key in section.keys() - _KNOWN[name]):
                self._say(f"{name}.{key} is not known; {name} has {', '.join(_keys(name))}.")
        return section

    def _number(self, section: Section, name: str, key: str, default: float | None = None) -> float:
        if key not in section:
            if default is None and section:
                self._say(f"{name}.{key} is missing.")
            return default or 0.0
        number = _finite(section[key])
        if number is None:
            self._say(f"{name}.{key} must be a finite number; it is {_shown(section[key])}.")
        return number or 0.0

    def _unit(self, section: Section, name: str, *, is_seconds: bool) -> None:
        unit = section.get("unit")
        if unit is not None and (str(unit).strip().lower() in _SECONDS) is not is_seconds:
            wanted = "seconds" if is_seconds else "ms"
            self._say(f"{name}.unit is {_shown(unit)}; its figures must be in {wanted}.")

    def _say(self, problem: str) -> None:
        self.problems.append(problem)


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _keys(name: str) -> list[str]:
    return sorted(_KNOWN[name] - _NOTES)


def _shown(value: object) -> str:
    return f"{value!r:.60}"
