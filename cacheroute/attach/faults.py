"""How attaching can fail: a sentence, the way out, and the exit code that scripts see."""

from typing import ClassVar


class AttachFault(Exception):
    """A server cannot be attached; the message is a sentence with its values."""

    code: ClassVar[str] = "process.failed"
    """Stable name for scripts; the command line gives it the same."""
    exit_code: ClassVar[int] = 1
    """As the command line publishes them."""

    def __init__(self, sentence: str, *, hint: str | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint


class NotAnswering(AttachFault):
    """Nobody answers, or the server is not ready yet: waiting may help."""

    code = "server.unreachable"
    exit_code = 3


class ModelNotServed(AttachFault):
    """The server lists other models than the one that was asked for."""

    code = "process.bad_config"
    exit_code = 2


class Taken(AttachFault):
    """The Proxy has the address or the id already, as something that stays."""

    code = "process.conflict"
    exit_code = 5


class KeyWanted(AttachFault):
    """The server, or the Proxy, wants a key or another one."""

    code = "server.forbidden"
    exit_code = 8


class NotUnderstood(AttachFault):
    """What answers is no server of the OpenAI kind."""

    code = "server.not_understood"
    exit_code = 9
