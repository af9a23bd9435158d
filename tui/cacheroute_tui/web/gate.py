"""The door in front of the console in a browser: a token, the right name, and no stranger's page.

What stands behind it has no door of its own: whoever reaches it gets a process on this host. So
nothing passes without the token, a page of another site cannot open a connection, a name that
was bent to our address is refused, and so is one visitor too many.
"""

import hashlib
import hmac
import html
import secrets
from collections.abc import Awaitable, Callable, Collection
from urllib.parse import urlsplit

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

MAX_SESSIONS = 8
"""Consoles at once: each is a process that looks at the Proxy."""
MAX_BODY_BYTES = 4 * 1024
SESSION_S = 12 * 3600
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>CacheRoute</title>
<style>body{{background:#101418;color:#d8dee6;font:16px monospace;margin:4em auto;max-width:36em}}
input{{font:inherit;padding:.3em;width:100%;box-sizing:border-box}}</style></head><body>
<h1>CacheRoute</h1><p>{told}</p><form method="post" action="/enter">
<label>Token <input type="password" name="token" autofocus autocomplete="off"></label></form>
</body></html>"""


class Gate:
    """Lets through who has the token."""

    def __init__(self, token: str, *, names: Collection[str] = ()) -> None:
        """`names` are host names that may be asked for beside those of this host alone."""
        self._token = token.encode()
        # What a browser keeps is not the token, and ends with us.
        self._session = hmac.new(secrets.token_bytes(32), self._token, hashlib.sha256).hexdigest()
        self._names = _LOOPBACK | {name.lower() for name in names}
        self.sessions = 0
        """Consoles that are open."""

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a stranger, or pass a request on."""
        response = await self._answered(request, handler)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    async def _answered(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not self._is_named_right(request):
            return web.Response(status=421, text="this console has another name\n")
        if not self._is_from_here(request):
            return web.Response(status=403, text="another site's page may not do this\n")
        if request.method == "POST" and request.path == "/enter":
            return await self._enter(request)
        if request.method not in ("GET", "HEAD"):
            return web.Response(status=405, text="this console only looks\n")
        if "token" in request.query:
            # Not left in the address, where a history or a picture of the screen would keep it.
            if self._is_token(request.query["token"]):
                return self._let_in(request)
            return self._refused("That token is not the right one.")
        if not self._is_known(request):
            return self._refused("This console wants its token; who started it has it.")
        if request.path == "/ws":
            return await self._counted(request, handler)
        return await handler(request)

    async def _counted(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self.sessions >= MAX_SESSIONS:
            return web.Response(status=503, text=f"{MAX_SESSIONS} consoles are open already\n")
        self.sessions += 1
        try:
            return await handler(request)
        finally:
            self.sessions -= 1

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        token = form.get("token")
        if isinstance(token, str) and self._is_token(token.strip()):
            return self._let_in(request)
        return self._refused("That token is not the right one.")

    def _let_in(self, request: web.Request) -> web.Response:
        response = web.Response(status=303, headers={"Location": "/"})
        response.set_cookie(
            self._cookie_name(request), self._session, max_age=SESSION_S, httponly=True,
            samesite="Strict", path="/", secure=request.secure,
        )  # fmt: skip
        return response

    def _refused(self, told: str) -> web.Response:
        return web.Response(
            status=401, text=_PAGE.format(told=html.escape(told)), content_type="text/html",
            headers={"WWW-Authenticate": "Bearer"},
        )  # fmt: skip

    def _is_known(self, request: web.Request) -> bool:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(token.strip()):
            return True
        kept = request.cookies.get(self._cookie_name(request), "")
        return hmac.compare_digest(kept.encode(), self._session.encode())

    def _is_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token)

    def _cookie_name(self, request: web.Request) -> str:
        # Cookies know no ports: two consoles on one host must not throw each other out.
        return f"cacheroute_{_port_of(request.host) or 80}"

    def _is_named_right(self, request: web.Request) -> bool:
        return (_name_of(request.host) or "") in self._names

    def _is_from_here(self, request: web.Request) -> bool:
        origin = request.headers.get("Origin")
        if origin is None:
            return True
        return urlsplit(origin).netloc.lower() == request.host.lower()


def _name_of(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _port_of(host: str) -> int | None:
    try:
        return urlsplit(f"//{host}").port
    except ValueError:
        return None
