"""The errors a caller can meet, by whose fault they are.

`code`, `status` and `retryable` belong to the class; the message is a sentence with the
values in it. Expected outcomes (nobody alive, not known) are values, not exceptions.
"""

from typing import ClassVar


class CacheRouteError(Exception):
    """Root of every error that CacheRoute raises on purpose."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return self.message


class RequestError(CacheRouteError):
    """The caller's fault; asking again unchanged cannot help."""

    code = "bad_request"
    status = 400


class InvalidJson(RequestError):
    """The body is not JSON."""

    code = "invalid_json"


class InvalidPayload(RequestError):
    """The body is JSON, but not the request this path takes."""

    code = "invalid_request_payload"


class ModelNotFound(RequestError):
    """No Instance of this pool serves the model that was asked for."""

    code = "model_not_found"
    status = 404


class CapacityError(CacheRouteError):
    """Ours, and only for now; carries `retry_after_s` where a wait helps."""

    code = "no_instance"
    status = 503


class NoInstanceError(CapacityError):
    """Nothing alive can take the request."""


class Overloaded(CapacityError):
    """Everybody who could take the request is at the cap."""

    code = "all_overloaded"


class QueueFull(CapacityError):
    """Too many requests wait for the Instance already."""

    code = "queue_full"
    status = 429


class Draining(CapacityError):
    """This Proxy is shutting down and takes no new work."""

    code = "draining"


class UpstreamError(CacheRouteError):
    """An Instance failed; may be tried elsewhere until the first byte has gone out."""

    code = "upstream_error"
    status = 502
    retryable = True

    def __init__(
        self,
        message: str,
        *,
        peer: str,
        retry_after_s: float | None = None,
        for_operator: str | None = None,
    ) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.peer = peer
        self.for_operator = for_operator or message
        """The same for the operator's log alone: addresses in it stay, and more may be said."""

    def rename_peer(self, name: str) -> None:
        """Put a name in the place of the peer's address, which callers are not to learn."""
        self.message = self.message.replace(self.peer, name)


class UpstreamConnectError(UpstreamError):
    """No connection could be made."""

    code = "upstream_connect_failed"


class UpstreamClosed(UpstreamError):
    """The connection ended before the answer did."""

    code = "upstream_closed"


class UpstreamProtocolError(UpstreamError):
    """What came back is not HTTP."""

    code = "upstream_protocol_error"


class UpstreamConnectTimeout(UpstreamConnectError):
    """No connection could be made in time."""

    status = 504


class UpstreamLeft(UpstreamError):
    """The Instance left the pool before it had begun to answer."""

    code = "upstream_left"


class UpstreamGivenUp(UpstreamError):
    """This Proxy stopped before the Instance had finished its answer."""

    code = "draining"
    status = 503
    retryable = False


class UpstreamTimeout(UpstreamError):
    """A limit on silence fired; the message names which one and its setting.

    Not tried elsewhere: what one Instance could not begin in ten minutes, the next one
    would begin from the start.
    """

    code = "upstream_timeout"
    status = 504
    retryable = False


class ConfigError(CacheRouteError):
    """Found at start-up: every problem at once, each with its path and source."""

    code = "bad_config"

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
