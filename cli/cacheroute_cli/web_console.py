"""The console in a browser, from a command: what is wrong is said first, then it is served."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from cacheroute_cli.context import TOKEN_VARIABLE, Given, resolve
from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.launch import Launch
from cacheroute_cli.supervisor.ports import Wanted, read_port
from cacheroute_cli.supervisor.runner import python

DEFAULT_LISTEN = "127.0.0.1:8202"
NEEDED = "textual_serve"
LISTEN_VARIABLE, URL_VARIABLE = "PROXY_UI_LISTEN", "PROXY_UI_URL"
_SAYS = re.compile(r"^(?P<web>https?://\S+)\s*$", re.M)


class WebOnlyLooks(Fault):
    """In a browser nothing is changed."""

    code = "web.read_only"
    exit = Exit.NOT_ALLOWED


class NoWebExtra(Fault):
    """What serves the console to browsers is not installed."""

    code = "web.not_installed"
    exit = Exit.USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """What was said of the console in a browser; None is not said."""

    listen: str | None = None
    token_file: str | None = None
    names: tuple[str, ...] = ()
    demo: bool = False
    replay: str | None = None
    write: bool = False


def serve_console(given: Given, options: WebOptions) -> None:
    """Become the server of the console; returns never. Raises WebOnlyLooks or NoWebExtra."""
    if options.write:
        raise WebOnlyLooks(
            "in a browser the console only looks",
            hint="'cacheroute tui --write' in a terminal may change something",
        )
    require_web_extra()
    # What is wrong with the configuration is said before anything is served.
    resolve(given)
    program = web_program(given, options)
    environ = dict(os.environ)
    if given.token:
        # On a command line every user of this host could read it.
        environ[TOKEN_VARIABLE] = given.token
    os.execve(program[0], program, environ)  # noqa: S606 - our own interpreter, no shell


def require_web_extra() -> None:
    """Make sure that a browser can be served; raises NoWebExtra."""
    if find_spec(NEEDED) is None:
        raise NoWebExtra(
            "the console in a browser needs textual-serve, which is not installed",
            hint="install it with: pip install 'cacheroute[web]'",
        )


def web_program(given: Given, options: WebOptions) -> tuple[str, ...]:
    """Return the words of the server, and behind them those of each console."""
    words = [f"--listen={options.listen or DEFAULT_LISTEN}"]
    if options.token_file is not None:
        words.append(f"--token-file={options.token_file}")
    words += [f"--name={name}" for name in options.names]
    said = {
        "--replay": options.replay,
        "--context": given.context,
        "--proxy-url": given.proxy_url,
        "--timeout": given.timeout_s,
        "--config": given.config_file,
    }
    console = [f"{name}={value}" for name, value in said.items() if value is not None]
    if options.demo:
        console.append("--demo")
    return python("-P", "-m", "cacheroute_tui.web", *words, "--", *console)


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideProxy:
    """The console in a browser that is started together with a Proxy."""

    listen: str
    url: str | None
    """Where it is asked for, if that is not where it listens."""

    @classmethod
    def of(
        cls, is_wanted: bool | None, listen: str | None, url: str | None, environ: Mapping[str, str]
    ) -> "BesideProxy | None":
        """Read what was said of it; None when none is wanted. Raises NoWebExtra."""
        if is_wanted is None:
            is_wanted = listen is not None or url is not None
        if not is_wanted:
            return None
        require_web_extra()
        return cls(
            listen=listen or environ.get(LISTEN_VARIABLE) or DEFAULT_LISTEN,
            url=url or environ.get(URL_VARIABLE) or None,
        )

    def launch(self, name: str, control_url: str, *, token: str | None) -> Launch:
        """Return how to run it for the Proxy of this name."""
        words = [f"--listen={self.listen}"]
        if self.url is not None and (host := urlsplit(self.url).hostname):
            words.append(f"--name={host}")
        return Launch(
            kind="web",
            name=name,
            argv=python(
                "-P", "-m", "cacheroute_tui.web", *words, "--", f"--proxy-url={control_url}"
            ),
            wanted=self.wanted,
            says_ready=_SAYS,
            env={TOKEN_VARIABLE: token} if token else {},
        )

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """The port that it needs."""
        host, _, text = self.listen.rpartition(":")
        port = read_port(text)
        if not port:
            return ()
        bare = host.strip("[]") or "127.0.0.1"
        return (Wanted(host=bare, port=port, purpose="web", option="--proxy-ui-listen"),)
