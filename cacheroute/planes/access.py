"""Who may use the control plane.

With a token, everything but health needs it, before anything has an effect. Without one,
everybody who reaches the port may look, and only this machine may change something: a
registration is a claim on other people's prompts.
"""

import hmac

from cacheroute.formats.address import is_loopback
from cacheroute.planes.asgi import App, Receive, Scope, Send, header, refuse
from cacheroute.wire.paths import HEALTH_PATHS

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_CHALLENGE = (b"www-authenticate", b'Bearer realm="cacheroute"')
_WRONG_TOKEN = (b"www-authenticate", b'Bearer realm="cacheroute", error="invalid_token"')


def bearer_token(authorization: bytes | None) -> bytes | None:
    """Return the token of an `Authorization: Bearer` value; None when it holds none.

    `Bearer None` is what a client without a key literally sends.
    """
    scheme, _, token = (authorization or b"").strip().partition(b" ")
    token = token.strip()
    return token if scheme.lower() == b"bearer" and token not in (b"", b"None") else None


class Access:
    """ASGI middleware in front of the control plane."""

    def __init__(self, app: App, token: str | None) -> None:
        if token is not None and not token.strip():
            raise ValueError("The control-plane token is blank; leave it out or give it a value.")
        self._app = app
        self._token = None if token is None else token.strip().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it with the reason."""
        if scope["type"] == "http" and not _is_health(scope):
            if self._token is None:
                reason = _not_from_here(scope)
                if reason:
                    await refuse(send, 403, "forbidden", reason)
                    return
            elif not self._knows(token := bearer_token(header(scope, b"authorization"))):
                challenge = _CHALLENGE if token is None else _WRONG_TOKEN
                detail = "This control plane needs Authorization: Bearer with its token."
                await refuse(send, 401, "unauthorized", detail, [challenge])
                return
        await self._app(scope, receive, send)

    def _knows(self, token: bytes | None) -> bool:
        return (
            token is not None
            and self._token is not None
            and hmac.compare_digest(token, self._token)
        )


def _is_health(scope: Scope) -> bool:
    return scope["path"] in HEALTH_PATHS and scope["method"] in _READING


def _not_from_here(scope: Scope) -> str | None:
    if scope["method"] in _READING:
        return None
    peer = scope.get("client")
    if peer is None or not is_loopback(peer[0]):
        return (
            f"{peer[0] if peer else 'An unknown peer'} is another machine, and this control "
            "plane has no token: only this machine may change something here. "
            "Set a token to open it to others."
        )
    if header(scope, b"origin") is not None:
        # A page open in a browser on this machine reaches loopback too, whoever wrote it.
        return "A web page may not change something here: the request carries an Origin header."
    return None
