"""Instances of the settings, as the pool knows Instances."""

from cacheroute.core.instance import Instance, default_instance_id
from cacheroute.settings.instances import StaticInstance


def as_instance(static: StaticInstance, wall_s: float) -> Instance:
    """Describe a static Instance; one without a name gets the default id of its address."""
    origin = static.origin
    is_unnamed = static.name == f"{origin.authority}{origin.base_path}"
    return Instance(
        instance_id=(
            default_instance_id(origin.host, origin.port, origin.base_path)
            if is_unnamed
            else static.name
        ),
        host=origin.host,
        port=origin.port,
        base_path=origin.base_path,
        origin="static",
        api_key=None if static.api_key is None else static.api_key.get_secret_value(),
        health_endpoint=static.health_endpoint,
        max_concurrent=static.max_concurrent,
        model_override=static.model_name,
        registered_wall_s=wall_s,
    )
