"""The real clock."""

import time

from cacheroute.core.clock import Instant


class SystemClock:
    """Both clocks of this machine."""

    def now(self) -> Instant:
        """Return this moment."""
        return Instant(time.monotonic(), time.time())
