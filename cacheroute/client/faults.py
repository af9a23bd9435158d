"""The five ways a question to the control plane goes without an answer.

Each means something else to an operator: start it, wait, change the question, upgrade, or ask
to be allowed.
"""


class ControlFault(Exception):
    """Root of all that can go wrong; the message is a sentence, `url` is what was asked."""

    def __init__(self, message: str, *, url: str) -> None:
        super().__init__(message)
        self.message = message
        self.url = url


class Unreachable(ControlFault):
    """No connection, or one that broke before the answer was whole."""

    def __init__(self, *, url: str, cause: str) -> None:
        super().__init__(f"cannot reach {url} ({cause})", url=url)
        self.cause = cause
        """The system's own words, as `connection refused`."""


class TimedOut(ControlFault):
    """Connected or not, nothing came in time."""

    def __init__(self, *, url: str, timeout_s: float) -> None:
        super().__init__(f"{url} did not answer within {timeout_s:g} s", url=url)
        self.timeout_s = timeout_s


class Refused(ControlFault):
    """An answer came, and it is no."""

    def __init__(self, *, url: str, status: int, body: str, code: str | None = None) -> None:
        said = f": {body}" if body else ""
        super().__init__(f"{url} answered {status}{said}", url=url)
        self.status = status
        self.body = body
        """Start of what it said, for people; may be empty."""
        self.code = code
        """Its word for what is wrong, where it has one."""


class NotUnderstood(ControlFault):
    """An answer came, and it is not what this version expects."""

    def __init__(self, *, url: str, why: str) -> None:
        super().__init__(f"the answer of {url} is not understood: {why}", url=url)
        self.why = why


class ReadOnly(ControlFault):
    """Nothing was sent: this client only looks, and the request could have changed something."""

    def __init__(self, *, url: str) -> None:
        super().__init__(f"this client is read-only and sends nothing to {url}", url=url)
