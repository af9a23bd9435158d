"""Links between Instances and knowledge nodes, as reported and as merged.

Numbers are finite and not negative; 0 ms is a measurement. A link may carry further
metrics of its reporter's choice, within bounds.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from cacheroute.wire.fields import Finite, InstanceId, NotNegative, Text

MAX_METRICS = 16

KdnKey = Annotated[str, StringConstraints(min_length=1, max_length=256)]
"""`kdn_id` or `kdn://host:port`; a reporter sends each link under both."""

Metric = bool | int | Finite | Text | None


class LinkBody(BaseModel):
    """One measured path; keys that are not listed here are kept as they came."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Metric] = Field(init=False)

    bandwidth_mbps: NotNegative | None = None
    latency_ms: NotNegative | None = None
    rtt_ms: NotNegative | None = None
    iface: Text | None = None
    measured_by: Text | None = None

    @model_validator(mode="after")
    def _bounded(self) -> "LinkBody":
        if len(self.model_fields_set) > MAX_METRICS:
            raise ValueError(f"a link has at most {MAX_METRICS} metrics")
        return self

    def as_reported(self) -> dict[str, Metric]:
        """Return the metrics that were sent, and no others."""
        return self.model_dump(exclude_unset=True)


class TopologyReportBody(BaseModel):
    """`POST /v1/topology/report`; replaces the Instance's earlier report."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    instance_id: InstanceId
    links: dict[KdnKey, LinkBody]


class TopologyReportReply(BaseModel):
    """The answer to a report."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    ok: bool
    merged_links: int = 0
    """Links in this report."""
    error: str | None = None
    detail: str | None = None


class KdnLinksReply(BaseModel):
    """`GET /v1/topology/kdn_links`: the best link for each key, with its reporter."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kdn_links: dict[str, dict[str, object]] = Field(default_factory=dict)


class LinkReportRow(BaseModel):
    """What one Instance reported last."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    instance_id: str
    state: str
    """`alive`, `stale` or `dead`."""
    is_alive: bool
    """Whether its links count."""
    age_s: float
    """Seconds of silence of the Instance."""
    report_age_s: float
    """Seconds since the report."""
    links: dict[str, dict[str, object]] = Field(default_factory=dict)


class TopologyReply(BaseModel):
    """`GET /debug/topology`: every report, what the settings say, and what comes of both."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    ok: bool
    generated_at: float
    """Seconds since the epoch."""
    instances: list[LinkReportRow] = Field(default_factory=list)
    static: dict[str, dict[str, object]] = Field(default_factory=dict)
    kdn_links: dict[str, dict[str, object]] = Field(default_factory=dict)
    """The best link for each key; `reported_by` is an Instance, or `static`."""
    known_addresses: list[str] = Field(default_factory=list)
    """Nodes that requests may name, besides those the settings allow."""
