"""`python -m cacheroute`: settings, then `runtime.serve`.

python -m cacheroute [--config FILE] [--set KEY=VALUE]... [--instance URL]... [--check]
"""

import argparse
import sys

from cacheroute.core.errors import ConfigError


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line of the Proxy process."""
    parser = argparse.ArgumentParser(prog="python -m cacheroute", description="Run a Proxy.")
    parser.add_argument("--config", metavar="FILE", help="YAML file with settings")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], dest="overrides",
        help="set one value, for example strategy.name=least_load; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--instance", metavar="URL", action="append", default=[], dest="instances",
        help="route to this server, which never expires; may be repeated",
    )  # fmt: skip
    parser.add_argument("--check", action="store_true", help="check the settings and exit")
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
        for problem in error.problems:
            print(f"cacheroute: error: {problem}", file=sys.stderr)  # noqa: T201
        return 2
    if given.check:
        for warning in loaded.warnings:
            print(f"cacheroute: warning: {warning}", file=sys.stderr)  # noqa: T201
        print("The settings are good.")  # noqa: T201
        return 0
    from cacheroute.runtime.serve import run

    return run(loaded)


if __name__ == "__main__":
    sys.exit(main())
