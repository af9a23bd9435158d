"""CacheRoute: a proxy and operator console for LLM serving fleets.

The map, from the ground up. Each layer imports only what stands below it:

- `core`       decides and holds state. Synchronous, handed `now`; no I/O, no clock, no chance.
- `formats`    bytes to values and back: SSE, Prometheus text, durations.
- `wire`       the published HTTP contract: paths, headers, bodies.
- `settings`   one tree of options; every value knows where it came from.
- `dataplane`  HTTP/1.1 in both directions: bytes, back-pressure, limits. Knows nothing of LLMs.
- `planes`     what HTTP requests mean: the service plane (:8001) and the control plane (:8002).
- `upstream`   what we ask of Instances, knowledge nodes and the Scheduler.
- `stores`     what survives a restart.
- `runtime`    composes all that; start reading at `runtime.pipeline`, one request, room by room.

Beside the proxy stand programs of their own, which know the contract only:
`agent` (host resources), `attach` (puts a server that runs into the pool), `demo` (a fake vLLM, a
knowledge node and a Scheduler to try things on); `member` is what `demo` and `attach` share,
`client` and `console` what CLI and TUI do.
"""

__version__ = "0.1.0"
