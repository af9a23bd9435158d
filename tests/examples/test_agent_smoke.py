"""`examples/02-agent-smoke`: what the agent measures is what the Proxy shows."""

import json

from tests.examples.running import Example

SCRIPT = "02-agent-smoke/agent_smoke.py"


def test_a_snapshot_arrives_at_the_proxy() -> None:
    example = Example(SCRIPT)

    shown = example.run().partition("/debug/instance_resources:\n")[2].partition("\n\n")[0]

    resource = {name: json.loads(value) for name, value in map(str.split, shown.splitlines())}
    assert 0 < resource["memory_used_mb"] < resource["memory_total_mb"]
    assert 0 <= resource["cpu_util"] <= 100
    assert resource["admission_state"] in ("accepting", "degraded", "rejecting")
    assert example.processes() == []
