"""Everything about one Instance, on one page."""

from pydantic import BaseModel, ConfigDict

from cacheroute.wire.debug import InstanceLoadsReply, InstancePredictionsRow
from cacheroute.wire.instances import InstanceRow


class InstancePage(BaseModel):
    """`GET /v1/console/instance?id=`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    ok: bool
    generated_at: float
    """Seconds since the epoch, by the Proxy's clock."""
    instance: InstanceRow
    """As in the list of all, with its last report as it was sent."""
    loads: InstanceLoadsReply
    """As in the loads of all, of this one alone."""
    predictions: InstancePredictionsRow | None = None
    """Null when nothing was predicted of it."""
