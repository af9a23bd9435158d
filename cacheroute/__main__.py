"""`python -m cacheroute`: settings, then `runtime.serve`.

python -m cacheroute [--config FILE] [--set KEY=VALUE]... [--instance URL]... [--check | --print]
"""

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from cacheroute.core.errors import ConfigError
from cacheroute.member.arguments import EXIT_USAGE, OneLineParser
from cacheroute.member.complaint import complain

if TYPE_CHECKING:
    from cacheroute.settings.load import Loaded


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line of the Proxy process."""
    parser = OneLineParser(program="python -m cacheroute", description="Run a Proxy.")
    parser.add_argument("--config", metavar="FILE", help="YAML file with settings")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], dest="overrides",
        help="set one value, for example strategy.name=least_load; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--instance", metavar="URL", action="append", default=[], dest="instances",
        help="route to this server, which never expires; may be repeated",
    )  # fmt: skip
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--check", action="store_true", help="check the settings and exit")
    end.add_argument(
        "--print", action="store_true", help="print the settings as JSON, with who gave them"
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Run a Proxy until it is told to stop; return the exit code."""
    from cacheroute.settings.load import load

    given = parse(argv)
    overrides = [*given.overrides]
    if given.instances:
        overrides.append("pool.instances=" + ",".join(given.instances))
    try:
        loaded = load(given.config, overrides)
    except ConfigError as error:
        said = "\n".join(error.problems)
        return complain(said, code="process.bad_config", exit_code=EXIT_USAGE)
    if given.check or given.print:
        for warning in loaded.warnings:
            print(f"cacheroute: warning: {warning}", file=sys.stderr)  # noqa: T201
        print(_printed(loaded) if given.print else "The settings are good.")  # noqa: T201
        return 0
    from cacheroute.runtime.serve import run

    return run(loaded)


def _printed(loaded: "Loaded") -> str:
    from cacheroute.settings.render import origin_rows

    items = [asdict(row) for row in origin_rows(loaded)]
    return json.dumps(
        {"schema": "cacheroute.effective_settings/1", "items": items}, ensure_ascii=False
    )


if __name__ == "__main__":
    sys.exit(main())
