"""How many requests wait, are prepared and run before one Instance, and who goes first."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

ReleasePolicy = Literal["ordered", "text_bypass"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRules:
    """The turnstiles of every Instance."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {
        "use_attribute_docstrings": True,
        "extra": "forbid",
    }

    prepare_concurrency: int = 8
    """Most requests that are prepared for one Instance at the same time."""
    ready_concurrency: int = 64
    """Most prepared requests on one Instance at the same time, unless it has a `max_concurrent`."""
    max_queue: int = 256
    """Most requests that wait at one turnstile of an Instance; one more is answered 429."""
    wait_at_cap: bool = False
    """Whether a plain request waits where every Instance is at its `max_concurrent`, not 503."""
    release_policy: ReleasePolicy = "ordered"
    """`ordered` releases in order of arrival, `text_bypass` lets text pass a head that waits."""
    text_bypass_max_per_flush: int = 1
    """Most text requests that pass a waiting head at a time, with `text_bypass`."""

    def __post_init__(self) -> None:
        for name in (
            "prepare_concurrency", "ready_concurrency", "max_queue", "text_bypass_max_per_flush",
        ):  # fmt: skip
            value = getattr(self, name)
            if not 1 <= value < math.inf:
                raise ValueError(f"{name} must be 1 or more, not {value!r}")
