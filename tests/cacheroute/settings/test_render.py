from pathlib import Path

import pytest

from cacheroute.settings import load
from cacheroute.settings.options import options
from cacheroute.settings.render import OriginRow, origin_rows, settings_table


def test_the_table_has_a_row_for_every_setting() -> None:
    lines = settings_table().splitlines()
    assert lines[0] == "| Setting | Environment | Default | Meaning |"
    assert len(lines) == 2 + len(options())
    for line, option in zip(lines[2:], options().values(), strict=True):
        assert line.startswith(f"| `{option.key}`")
        assert option.env_name in line


def test_a_row_shows_every_name_and_the_default_with_its_unit() -> None:
    rows = {line.split("`")[1]: line for line in settings_table().splitlines()[2:]}
    assert rows["proxy.port"] == (
        "| `proxy.port`, `server.port` | `CACHEROUTE_PROXY__PORT`, `PROXY_DP_PORT` | `8001` "
        "| Port of the service plane; 0 takes any free one. |"
    )
    assert "| `10m` |" in rows["timeouts.first_byte_s"]
    assert "| `64MiB` |" in rows["limits.body_bytes"]
    assert "| `0.001` |" in rows["strategy.weights.predicted_total_backlog_ms"]
    assert "| `true` |" in rows["proxy.forward_authorization"]
    assert "| none |" in rows["control.token"]


def test_links_are_shown_as_they_are_written_in_a_variable() -> None:
    links = '{"a:9101": {"bandwidth_mbps": 1000.0, "latency_ms": 0.0}}'
    loaded = load(None, [], {"HOME": "/h", "PROXY_KDN_LINKS_JSON": links})
    rows = {row.key: row for row in origin_rows(loaded)}
    assert rows["kdn.links"] == OriginRow(
        key="kdn.links", value=links, origin="PROXY_KDN_LINKS_JSON"
    )
    assert rows["scheduler.url"].value == "none"
    table = {line.split("`")[1]: line for line in settings_table().splitlines()[2:]}
    assert "`CACHEROUTE_KDN__LINKS`, `PROXY_KDN_LINKS_JSON` | none |" in table["kdn.links"]


def test_the_table_does_not_depend_on_the_machine() -> None:
    assert str(Path.home()) + "/" not in settings_table()


def test_what_is_in_force_is_shown_with_who_gave_it(tmp_path: Path) -> None:
    file = tmp_path / "gw.yaml"
    file.write_text("backends:\n  - {name: a, url: 'gpu:1'}\nproxy: {shutdown_grace_s: 90}\n")
    loaded = load(
        file,
        ["control.token=s3cret", "pool.instances=b:1,c:1,api_key=s3cret", "log_level=debug"],
        {"HOME": "/home/a", "PROXY_CP_PORT": "9002"},
    )
    rows = {row.key: row for row in origin_rows(loaded)}
    assert list(rows) == [option.key for option in options().values()]
    assert rows["backends"] == OriginRow(
        key="backends", value="a (http://gpu:1)", origin=f"{file}:1"
    )
    assert rows["control.port"] == OriginRow(
        key="control.port", value="9002", origin="PROXY_CP_PORT"
    )
    assert rows["control.token"] == OriginRow(key="control.token", value="(set)", origin="--set")
    assert rows["pool.instances"].value == "http://b:1, http://c:1,api_key=(set)"
    assert rows["proxy.shutdown_grace_s"].value == "1m30s"
    assert rows["strategy.name"] == OriginRow(
        key="strategy.name", value="round_robin", origin="default"
    )
    assert rows["state_dir"].value == "/home/a/.local/state/cacheroute"
    assert "s3cret" not in repr(rows)


@pytest.mark.parametrize(
    ("given", "shown"), [("1234567.5", "1234567.5"), ("100000000", "100000000"), ("0.1", "0.1")]
)
def test_a_number_is_shown_in_full(given: str, shown: str) -> None:
    loaded = load(None, [f"injection.default_bandwidth_mbps={given}"], {"HOME": "/h"})
    rows = {row.key: row.value for row in origin_rows(loaded)}
    assert rows["injection.default_bandwidth_mbps"] == shown
