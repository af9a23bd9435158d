"""`python -m cacheroute_tui.web`: serve the console to browsers of this host."""

import argparse
import os
import secrets
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from cacheroute_cli.diagnostics import Exit, Fault, UsageFault, note, report_fault

DEFAULT_LISTEN = "127.0.0.1:8202"
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
_MIN_TOKEN_CHARS = 8
_MAX_TOKEN_BYTES = 4 * 1024


class NoWebExtra(Fault):
    """What serves the console is not installed."""

    code = "web.not_installed"
    exit = Exit.USAGE


class CannotListen(Fault):
    """The address cannot be had."""

    code = "web.port"
    exit = Exit.CONFLICT


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until ended; returns the exit code."""
    asked, words = _parser().parse_known_args(arguments)
    try:
        return _run(asked, [word for word in words if word != "--"])
    except Fault as fault:
        report_fault(fault, as_json=False)
        return fault.exit


def _run(asked: argparse.Namespace, words: Sequence[str]) -> int:
    host, port = listen_of(asked.listen)
    if host not in _LOOPBACK and asked.token_file is None:
        raise UsageFault(
            f"{host} can be reached by others, so the token must be one that you chose",
            hint="name a file that holds it with --token-file, or listen on 127.0.0.1",
        )
    if any(word.partition("=")[0] == "--write" for word in words):
        raise UsageFault("the console in a browser only looks")
    token = secrets.token_urlsafe(24) if asked.token_file is None else token_of(asked.token_file)
    try:
        from cacheroute_tui.web.gate import Gate
        from cacheroute_tui.web.serving import console_command, serve_until_ended, take_surroundings
    except ModuleNotFoundError as missing:
        raise NoWebExtra(
            f"the console in a browser needs {missing.name}, which is not installed",
            hint="install it with: pip install 'cacheroute[web]'",
        ) from None
    take_surroundings()
    names = {host, *asked.name}

    def ready(port: int) -> None:
        where = f"http://{_written(host)}:{port}/"
        if asked.token_file is None:
            where += f"?token={token}"
        sys.stdout.write(f"{where}\n")
        sys.stdout.flush()
        if host not in _LOOPBACK:
            note("cacheroute: warning: nothing is encrypted; put a proxy with TLS in front")
        note("read-only, in a browser; Ctrl-C ends it")

    try:
        return serve_until_ended(
            console_command(words), host=host, port=port, gate=Gate(token, names=names), ready=ready
        )
    except OSError as problem:
        why = (problem.strerror or str(problem)).lower()
        raise CannotListen(
            f"cannot listen on {host}:{port} ({why})", hint="choose another one with --listen"
        ) from None


def listen_of(text: str) -> tuple[str, int]:
    """Read HOST:PORT, or a port of 127.0.0.1; raises UsageFault."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        raise UsageFault(f"--listen is such as {DEFAULT_LISTEN}, not {text!r}")
    return host, int(port)


def token_of(path: str) -> str:
    """Read a token from a file that nobody else may read; raises UsageFault."""
    try:
        with Path(path).open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            token = file.read(_MAX_TOKEN_BYTES).decode("utf-8", "replace").strip()
    except OSError as problem:
        raise UsageFault(
            f"the token file {path} cannot be read ({(problem.strerror or '').lower()})"
        ) from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageFault(
            f"others may read the token file {path}", hint=f"make it yours alone: chmod 600 {path}"
        )
    if len(token) < _MIN_TOKEN_CHARS or not token.isprintable() or not token.isascii():
        raise UsageFault(
            f"a token has at least {_MIN_TOKEN_CHARS} letters, and none that cannot be typed"
        )
    return token


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cacheroute web", allow_abbrev=False)
    parser.add_argument("--listen", default=DEFAULT_LISTEN)
    parser.add_argument("--token-file")
    parser.add_argument("--name", action="append", default=[])
    return parser


if __name__ == "__main__":
    sys.exit(main())
