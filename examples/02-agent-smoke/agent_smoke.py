"""From the sensors of this host to the Proxy's view of the pool, and what each step says.

    python examples/02-agent-smoke/agent_smoke.py

A resource agent on a port of its own measures, a demo Instance asks it and reports, and the
Proxy shows the report under the published names. Ends by itself and stops what it started.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

CACHEROUTE = str(Path(sys.executable).with_name("cacheroute"))
SHOWN = (
    "cpu_util",
    "memory_used_mb",
    "memory_total_mb",
    "gpu_util_avg",
    "network_rx_mbps",
    "network_tx_mbps",
    "admission_state",
)
PATIENCE_S = 20
HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Asks this machine itself, whatever proxy for the web the environment names."""


def cacheroute(*arguments: str) -> Any:
    """Run one command as an operator would, and return its JSON."""
    print("$ cacheroute", *arguments)
    done = subprocess.run(
        [CACHEROUTE, *arguments, "-o", "json"], stdout=subprocess.PIPE, timeout=60, check=True
    )
    return json.loads(done.stdout)


def start(held: ExitStack, kind: str, *arguments: str) -> dict[str, str]:
    """Start a process in the background, to be stopped at the end; return its URLs."""
    [process] = cacheroute(kind, "start", *arguments)["items"]
    held.callback(cacheroute, kind, "stop", process["name"])
    urls: dict[str, str] = process["urls"]
    return urls


def get(url: str) -> Any:
    """Fetch one JSON document."""
    with HTTP.open(url, timeout=10) as answer:
        return json.load(answer)


def reported(control_url: str, instance_id: str) -> dict[str, Any]:
    """Wait until the Instance's report is in the pool, and return it as the Proxy shows it."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for row in get(f"{control_url}/debug/instance_resources")["instances"]:
            resource: dict[str, Any] = row["resource"]
            if row["instance_id"] == instance_id and resource["memory_total_mb"] is not None:
                return resource
        time.sleep(0.2)
    sys.exit(f"no report of {instance_id} has reached the Proxy after {PATIENCE_S} s")


def main() -> None:
    """Start agent, Proxy and Instance, and follow one snapshot through them."""
    with ExitStack() as held:
        folder = held.enter_context(tempfile.TemporaryDirectory())
        os.environ["CACHEROUTE_STATE_DIR"] = folder
        agent = start(held, "agent", "--listen", "127.0.0.1:0")
        proxy = start(held, "proxy", "--port", "0", "--cp-port", "0", "--proxy-id", "example")
        start(
            held, "instance", "--port", "0", "--instance-id", "demo-1",
            "--agent-url", agent["url"], "--proxy-url", proxy["control"],
        )  # fmt: skip
        print(f"\nthe agent's health: {get(agent['url'] + '/healthz')}")
        snapshot = get(agent["url"] + "/v1/resource/snapshot")
        print(f"its snapshot holds: {', '.join(snapshot)}")
        print("the Proxy shows, in /debug/instance_resources:")
        resource = reported(proxy["control"], "demo-1")
        for name in SHOWN:
            print(f"  {name:16} {json.dumps(resource[name])}")
        print()


if __name__ == "__main__":
    # A kill ends it like Ctrl-C does: by way of the clean-up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
