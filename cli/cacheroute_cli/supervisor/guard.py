"""What ends a stack when its supervisor is killed: `python -m cacheroute_cli.supervisor.guard`.

The kernel tells each child of the death, but a child may not listen, and a grandchild is not
told. The guard waits for its stdin to end, which happens however the supervisor dies, lets
everything that carries the stack's mark have its grace, and kills what is left.
"""

import os
import signal
import sys
import time

from cacheroute_cli.supervisor.ending import end_all, end_marked
from cacheroute_cli.supervisor.identity import STACK_VARIABLE, marked_with

_ROUNDS = 5
_ROUND_S = 0.2


def main() -> int:
    """Wait for the end, then see to it; each line of stdin is a grace in seconds."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    mark = os.environ[STACK_VARIABLE]
    grace_s = 0.0
    for line in sys.stdin:
        grace_s = float(line)
    end_all(
        [identity for identity in marked_with(mark) if identity.pid != os.getpid()],
        grace_s=grace_s,
    )
    # What was being started while we looked is found in one of the next rounds.
    for _ in range(_ROUNDS):
        if end_marked(mark) == 0:
            break
        time.sleep(_ROUND_S)
    return 0


if __name__ == "__main__":
    sys.exit(main())
