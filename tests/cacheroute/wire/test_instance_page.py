"""The page of one Instance is put together of rows that others read as well."""

from cacheroute.wire.instance_page import InstancePage


def test_an_instance_that_nothing_was_predicted_of_has_none() -> None:
    entry = {"instance_id": "a", "host": "h", "port": 1, "registered_at": 1, "last_seen_at": 2,
             "is_alive": True}  # fmt: skip
    loads = {"ok": True, "ttl_s": 30, "generated_at": 1.0, "instances": []}
    page = InstancePage.model_validate(
        {"ok": True, "generated_at": 1.0, "instance": entry, "loads": loads}
    )

    assert page.predictions is None
