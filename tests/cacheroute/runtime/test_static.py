"""Instances of the settings become Instances of the pool."""

from cacheroute.runtime.static import as_instance
from cacheroute.settings import load


def test_a_bare_url_gets_the_default_id_of_its_address() -> None:
    settings = load(overrides=["pool.instances=http://10.0.0.7:8000/base/v1"], environ={}).settings
    instance = as_instance(settings.static_instances[0], wall_s=5.0)
    assert instance.instance_id == "hp_10.0.0.7:8000/base"
    assert (instance.host, instance.port, instance.base_path) == ("10.0.0.7", 8000, "/base")
    assert instance.origin == "static"
    assert instance.registered_wall_s == 5.0


def test_a_key_goes_along_and_stays_out_of_the_repr() -> None:
    settings = load(
        overrides=["pool.instances=http://10.0.0.7:8000,api_key=env:KEY"],
        environ={"KEY": "sk-secret"},
    ).settings
    instance = as_instance(settings.static_instances[0], wall_s=0.0)
    assert instance.api_key == "sk-secret"
    assert "sk-secret" not in repr(instance)
