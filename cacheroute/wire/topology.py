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
