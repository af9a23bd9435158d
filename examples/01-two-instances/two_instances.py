"""Two Instances behind a Proxy: where a prompt goes decides what it costs.

    python examples/01-two-instances/two_instances.py

Uses the installed `cacheroute` command, free ports and a state folder of its own; ends by
itself and stops what it has started.
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
HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Asks this machine itself, whatever proxy for the web the environment names."""
MODEL = "demo-8b"
HANDBOOK = "Answer from the handbook of our workshop, of which this is a page. " * 400
QUESTIONS = (
    "When does the workshop open?",
    "Who repairs the lathe?",
    "Where are the goggles?",
    "May I bring a friend?",
)


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


def wait_for_pool(control_url: str, size: int) -> None:
    """Wait until so many Instances have registered."""
    deadline = time.monotonic() + 20
    while cacheroute("instances", "--proxy-url", control_url)["total"] < size:
        if time.monotonic() > deadline:
            sys.exit(f"not all of {size} Instances are in the pool after 20 s")
        time.sleep(0.2)


def ask(service_url: str, question: str) -> tuple[str, float, dict[str, Any]]:
    """Send one streamed chat; return who answered, ms to its first words, and its usage."""
    body = {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": HANDBOOK},
            {"role": "user", "content": question},
        ],
        "max_tokens": 16,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    request = urllib.request.Request(  # noqa: S310 - a Proxy on this machine
        f"{service_url}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    began = time.monotonic()
    ttft_ms = 0.0
    usage: dict[str, Any] = {}
    with HTTP.open(request, timeout=30) as answer:
        for line in answer:
            if not line.startswith(b"data: {"):
                continue
            chunk = json.loads(line.removeprefix(b"data: "))
            if "error" in chunk:
                sys.exit(f"the answer broke off: {chunk['error']}")
            if not ttft_ms and any(c["delta"].get("content") for c in chunk["choices"]):
                ttft_ms = (time.monotonic() - began) * 1000
            usage = chunk.get("usage") or usage
        return answer.headers["X-CacheRoute-Instance"], ttft_ms, usage


def show_reasons(control_url: str) -> None:
    """Print why each request went where it went, in the Proxy's words."""
    url = f"{control_url}/debug/decisions?last={len(QUESTIONS)}"
    with HTTP.open(url, timeout=10) as answer:
        decisions = json.load(answer)["decisions"]
    for decision in reversed(decisions):
        print(f"  {decision['reason']}")


def main() -> None:
    """Start it all, ask four questions about one long text, and tell what each took."""
    with ExitStack() as held:
        folder = held.enter_context(tempfile.TemporaryDirectory())
        os.environ["CACHEROUTE_STATE_DIR"] = folder
        proxy = start(held, "proxy", "--port", "0", "--cp-port", "0", "--proxy-id", "example")
        for name in ("red", "blue"):
            start(
                held, "instance", "--port", "0", "--instance-id", name,
                "--model", MODEL, "--proxy-url", proxy["control"],
            )  # fmt: skip
        wait_for_pool(proxy["control"], size=2)
        print(f"\n{'ANSWERED BY':12} {'PROMPT':>8} {'CACHED':>8} {'FIRST TOKEN':>12}")
        for question in QUESTIONS:
            instance, ttft_ms, usage = ask(proxy["service"], question)
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
            print(f"{instance:12} {usage['prompt_tokens']:8} {cached:8} {ttft_ms:9.0f} ms")
        print("\nwhy:")
        show_reasons(proxy["control"])
        print()


if __name__ == "__main__":
    # A kill ends it like Ctrl-C does: by way of the clean-up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
