"""Which inference paths a server has.

Its own list of paths tells, where it publishes one. Else each is asked with a body that no
server can take for a request, so that nothing is computed: only a path that is not there
answers as such.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cacheroute.wire import paths

if TYPE_CHECKING:
    from cacheroute.member.peer import Peer

KNOWN = (paths.CHAT_COMPLETIONS, paths.COMPLETIONS, *paths.PASS_THROUGH)
"""The inference paths that a Proxy sends on."""

OPENAPI = "/openapi.json"
OPENAPI_MAX_BYTES = 8 * 1024 * 1024
NOT_THERE = frozenset({404, 405, 501})
_NO_REQUEST = b"{"


async def served_endpoints(peer: Peer) -> tuple[str, ...]:
    """Return what is served, as `chat/completions`; raises PeerFault."""
    listed = await _listed(peer)
    if not listed:
        # One after the other: a server should not take this for an attack.
        answers = [(path, await peer.ask("POST", path, _NO_REQUEST)) for path in KNOWN]
        listed = {path for path, said in answers if said.status not in NOT_THERE}
    return tuple(paths.endpoint_of(path) for path in KNOWN if path in listed)


async def _listed(peer: Peer) -> set[str]:
    said = await peer.ask("GET", OPENAPI, max_bytes=OPENAPI_MAX_BYTES)
    if said.status != 200:
        return set()
    try:
        document = json.loads(said.body)
    except (ValueError, RecursionError):
        return set()
    listed = document.get("paths") if isinstance(document, dict) else None
    return {path for path in KNOWN if path in listed} if isinstance(listed, dict) else set()
