"""What is known of a fleet's speed, in one value: prefill, decode, KV pull and KV size.

`PUBLISHED` is the documented default: fits to the published benchmark tables of Llama-3-70B on
eight RTX 5090. It is a start; `cacheroute calibrate` measures the fleet that is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cacheroute.core.predict.decode import DecodeLine, DecodeModel
from cacheroute.core.predict.document import SCHEMA, DocumentReader
from cacheroute.core.predict.prefill import PrefillModel
from cacheroute.core.predict.transfer import KvSize, PullModel

WAY_OUT = "`cacheroute calibrate` measures the fleet and writes a document that is whole."


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Everything the predictors need."""

    prefill: PrefillModel
    """Time to first token."""
    decode: DecodeModel
    """Time per output token."""
    pull: PullModel
    """Loading KV from Redis."""
    kv: KvSize
    """What KV weighs."""
    fitted: Mapping[str, object] = field(default_factory=dict)
    """Free facts on where the figures come from: when, of what, with which error."""

    def as_mapping(self) -> dict[str, object]:
        """Return the document that `parse_coefficients` reads as these coefficients."""
        prefill, decode, kv = self.prefill, self.decode, self.kv
        ttft: dict[str, object] = {name: getattr(prefill, name) for name in "abcd"}
        if prefill.attention_s_per_pair:
            ttft["attention_s_per_pair"] = prefill.attention_s_per_pair
        if prefill.floor_ms:
            ttft["floor_ms"] = prefill.floor_ms
        if prefill.curve:
            ttft["curve"] = [list(knot) for knot in prefill.curve]
        tpot: dict[str, object] = {
            "mode": "per_bs_linear",
            "by_bs": {
                str(line.batch): {"slope": line.slope_s, "intercept": line.intercept_s}
                for line in decode.by_batch
            },
        }
        if decode.per_request_s:
            tpot["per_request_s"] = decode.per_request_s
        return {
            "schema": SCHEMA,
            "ttft": {**ttft, "unit": "seconds"},
            "tpot": {**tpot, "unit": "seconds"},
            "redis": {"a": self.pull.a_ms_per_gb, "b": self.pull.b_ms, "unit": "ms"},
            "kv": {
                "network_mb_per_token": kv.network_mb_per_token,
                "redis_gb_per_token": kv.redis_gb_per_token,
                "align_tokens": kv.align_tokens,
            },
            "fitted": dict(self.fitted),
        }


def parse_coefficients(document: Mapping[str, object]) -> Coefficients:
    """Read a document; raises ValueError with one sentence per problem and the way out.

    One that is put together from the published files has no sizes: their pull is told per GB
    of the published size, so that is what is taken.
    """
    reader = DocumentReader(document)
    coefficients = Coefficients(
        prefill=reader.prefill(),
        decode=reader.decode(),
        pull=reader.pull(),
        kv=reader.kv(REFERENCE_KV),
        fitted=reader.fitted(),
    )
    if reader.problems:
        raise ValueError("\n".join([*reader.problems, WAY_OUT]))
    return coefficients


PUBLISHED_CURVE: tuple[tuple[float, float], ...] = (
    (0.0, 60.0), (10.0, 60.0), (35.0, 47.0), (45.0, 53.26), (55.0, 65.97), (65.0, 70.71),
    (75.0, 76.63), (89.0, 88.38), (95.0, 90.35), (105.0, 93.01), (115.0, 95.67),
    (303.0, 396.0), (345.0, 472.0),
)  # fmt: skip
"""Measured time to first token of short prompts, (tokens, ms)."""

REFERENCE_KV = KvSize(network_mb_per_token=0.096, redis_gb_per_token=0.0000381)
"""The two published sizes; 0.096 MB and 0.0381 MB cannot both be the weight of a token."""

REFERENCE_PULL = PullModel(a_ms_per_gb=2764.3407821694204, b_ms=12.460820712239126)
"""The published pull, fitted over GB of the smaller size."""

PUBLISHED_KV = KvSize.of_bytes(96_000)
"""One size: what crosses the link is what lies in Redis."""

_PULL_MS_PER_TOKEN = REFERENCE_PULL.a_ms_per_gb * REFERENCE_KV.redis_gb_per_token

PUBLISHED = Coefficients(
    prefill=PrefillModel(
        a=1.4644916e-3,
        b=2.15490e-5,
        c=-3.165789e-2,
        d=-3.254733e-2,
        curve=PUBLISHED_CURVE,
    ),
    # The published intercept rises from one request to seven; the slope adds 0.2 ms of 24 at
    # 1,024 tokens, so that of one request serves for all.
    decode=DecodeModel(
        by_batch=(
            DecodeLine(batch=1, slope_s=2.017646e-7, intercept_s=2.394211e-2),
            DecodeLine(batch=7, slope_s=2.017646e-7, intercept_s=2.766e-2),
        )
    ),
    # What was measured is time per token (0.105 ms); only the GB it is told in are others here.
    pull=PullModel(
        a_ms_per_gb=_PULL_MS_PER_TOKEN / PUBLISHED_KV.redis_gb_per_token,
        b_ms=REFERENCE_PULL.b_ms,
    ),
    kv=PUBLISHED_KV,
)
"""The documented default."""

REFERENCE = Coefficients(
    prefill=PUBLISHED.prefill, decode=PUBLISHED.decode, pull=REFERENCE_PULL, kv=REFERENCE_KV
)
"""The same figures with the two published sizes, as other programs have them."""
