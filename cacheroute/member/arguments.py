"""How a program of ours reads its command line: one sentence about what is wrong, and exit 2.

The functions named after a kind of value are for the `type` of an option.
"""

import argparse
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from cacheroute.formats.address import Address, parse_host, parse_host_port
from cacheroute.member.complaint import complain
from cacheroute.wire.headers import can_carry

EXIT_USAGE = 2
MAX_ADDRESSES = 64


class OneLineParser(argparse.ArgumentParser):
    """Takes options by their whole names only."""

    def __init__(self, *, program: str, description: str, **more: Any) -> None:
        super().__init__(prog=program, description=description, allow_abbrev=False, **more)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong without a page of usage before it."""
        raise SystemExit(
            complain(
                message.removeprefix("argument "),
                code="usage",
                exit_code=EXIT_USAGE,
                hint=f"try '{self.prog} --help'",
            )
        )

    def secret(self, variable: str, environ: Mapping[str, str]) -> str | None:
        """Return what a variable holds for a header, or None; ends if no header can carry it."""
        value = environ.get(variable)
        if value and not can_carry(value):
            self.error(f"{variable} holds what no HTTP header can carry")
        return value or None

    def option(self, name: str, *, help: str, default: object = None, **fields: Any) -> None:  # noqa: A002
        """Add an option whose help tells its default, unless the default says nothing."""
        shown = help if default in (None, "", (), False) else f"{help} (default: %(default)s)"
        self.add_argument(name, help=shown, default=default, **fields)


def whole(least: int, most: int) -> Callable[[str], int]:
    """Read a whole number of this range."""

    def read(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {least} to {most}, not {text!r}"
            )
        return value

    return read


def number(least: float, most: float) -> Callable[[str], float]:
    """Read a number of this range."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"must be a number from {least:g} to {most:g}, not {text!r}"
            )
        return value

    return read


def name(text: str) -> str:
    """Read a name that can be shown on one line."""
    if not 0 < len(text) <= 256 or not text.isprintable():
        raise argparse.ArgumentTypeError(f"must be 1 to 256 printable characters, not {text!r}")
    return text


def host(text: str) -> str:
    """Read a host name or an IP address; an IPv6 one may stand in brackets."""
    try:
        return parse_host(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def words(text: str) -> tuple[str, ...]:
    """Read words between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def addresses(text: str) -> tuple[Address, ...]:
    """Read addresses between commas, each as HOST:PORT."""
    given = [word.removeprefix("http://").rstrip("/") for word in words(text)]
    if len(given) > MAX_ADDRESSES:
        raise argparse.ArgumentTypeError(f"names {len(given)} addresses, more than {MAX_ADDRESSES}")
    try:
        return tuple(parse_host_port(word) for word in given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be HOST:PORT[,..]: {error}") from None
