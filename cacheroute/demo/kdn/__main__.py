"""A knowledge node in small: texts in SQLite, their KV cache into a real Redis, a simulated link.

`python -m cacheroute.demo.kdn --bandwidth-mbps 1000 --delay-ms 2` listens on 127.0.0.1:9101. It
prints one line, `listening on http://HOST:PORT`, and exits 0 when told to stop, 2 on a bad
option or a database that cannot be opened, 5 when it cannot listen.

    POST /knowledge/register_text    {"content"}                  a text gets its id
    POST /knowledge/build_kv         {"kid", "api_url", "model"}  an engine computes its KV cache
    POST /knowledge/search/text      {"knowledge_ids"}            texts by id
    POST /knowledge/inject_ready_kv  {"model", "knowledge_ids", "redis_host", "redis_port"}
    POST /knowledge/snapshot, /knowledge/delete, /knowledge/purge_all, /knowledge/pool_status
    POST /v1/topology/hello    GET /v1/topology/ping    GET /healthz

What is real: the texts, the keys and values in Redis, the request to the engine that makes
them. What is not: the link. Without `--bandwidth-mbps` there is none; with it, a transfer takes

    delay + nominal bytes * 8 / (bandwidth * efficiency), divided by --speed

one after the other, where a blob of the demo Instance counts with the size it stands for, and
any other value with its own. Lookups, pings and hellos of Instances never wait behind a
transfer; lookups and pings take the delay. `network_queue_ms` and `network_transfer_ms` of an
injection are what really passed here; without a link, the time that Redis took.

What is left out: embeddings are null, nothing is registered at a Scheduler, and a text has KV
cache of one model at a time. Callers name the Redis, and the engine; `--redis HOST:PORT` and
`--engine HOST:PORT` say which may be named, and without them only those of this machine may.

It can be changed while it runs:

    POST /demo/link   {"bandwidth_mbps", "delay_ms"}   for transfers that have not begun; GET shows
    POST /demo/fault  {"lookup_delay_s", "lookup_status", "inject_delay_s", "inject_status",
                       "count"}                        strikes the next calls; GET, DELETE
"""

import asyncio
import gc
import importlib
import os
import sqlite3
import sys
from collections.abc import Callable

from cacheroute.demo.kdn.node import Node
from cacheroute.demo.kdn.options import KdnOptions, parse_options
from cacheroute.formats.address import Address
from cacheroute.member.arguments import EXIT_USAGE
from cacheroute.member.complaint import complain
from cacheroute.member.running import announce, run_until_signal


def main() -> int:
    """Run one node until a signal; returns the exit code."""
    options = parse_options(sys.argv[1:], os.environ)
    try:
        return run_until_signal(
            lambda stopping: serve(
                options, stopping=stopping, on_listening=lambda url: announce(f"listening on {url}")
            )
        )
    except (sqlite3.Error, OSError) as error:
        sentence = f"cannot open the database {options.db or 'in a temporary folder'}: {error}"
        return complain(sentence, code="process.bad_config", exit_code=EXIT_USAGE)


async def serve(
    options: KdnOptions, *, stopping: asyncio.Event, on_listening: Callable[[str], None]
) -> None:
    """Serve until `stopping` is set; raises CannotListen, sqlite3.Error or OSError."""
    node = Node(options)
    await node.open()
    try:
        on_listening(f"http://{Address(options.host, node.port).authority}")
        # The first injection should not have to wait for its library to load.
        await asyncio.to_thread(importlib.import_module, "redis.asyncio")
        gc.freeze()
        await stopping.wait()
    finally:
        await node.close()


if __name__ == "__main__":
    sys.exit(main())
