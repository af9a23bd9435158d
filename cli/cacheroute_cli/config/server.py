"""The settings of a Proxy as it would start here: only its own program can tell."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cacheroute.console import cast
from cacheroute.console.columns import Kind
from cacheroute_cli.diagnostics import Exit, Fault, note
from cacheroute_cli.launch import ProxyOptions, launch_proxy
from cacheroute_cli.supervisor.runner import inherited

_TIMEOUT_S = 30.0


class BadSettings(Fault):
    """The settings of the Proxy are wrong; each line of the message is one thing to mend."""

    code = "settings.invalid"
    exit = Exit.USAGE


class NoAnswer(Fault):
    """The program of the Proxy does not tell its settings."""

    code = "settings.not_understood"
    exit = Exit.NOT_UNDERSTOOD


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """One setting and who gave it."""

    key: str
    value: str
    origin: str


SETTINGS: Kind[SettingRow] = Kind(
    name="settings",
    noun="settings",
    columns=(
        cast.word("key", "KEY", "Its path in a settings file."),
        cast.word("value", "VALUE", "What holds; secrets are not shown.", gives_way=True),
        cast.word("origin", "ORIGIN", "Who gave it.", gives_way=True),
    ),
    name_of=lambda row: row.key,
    searched=lambda row: row.key,
)


def ask_for_settings(config: Path | None, settings: Sequence[str]) -> list[SettingRow]:
    """Ask the program; raises BadSettings with every line that it complains of."""
    launch = launch_proxy(ProxyOptions(config=config, settings=settings), os.environ)
    try:
        done = subprocess.run(
            [*launch.argv, "--print"], capture_output=True, text=True, timeout=_TIMEOUT_S,
            check=False, stdin=subprocess.DEVNULL, env=inherited(),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoAnswer(f"the Proxy's program did not tell its settings ({problem})") from None
    said = [line.removeprefix("cacheroute: ") for line in done.stderr.splitlines()]
    if done.returncode != 0:
        errors = [line.removeprefix("error: ") for line in said] or ["it gave no reason"]
        raise BadSettings("\n".join(errors))
    for line in said:
        note(f"cacheroute: {line}")
    try:
        return [SettingRow(**row) for row in json.loads(done.stdout)["items"]]
    except (ValueError, KeyError, TypeError):
        raise NoAnswer("the Proxy's program tells its settings in another way") from None
