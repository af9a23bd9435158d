"""The clocks of this host, as one moment."""

import time

from cacheroute.core.clock import Instant


class SystemClock:
    """Tells the time."""

    def now(self) -> Instant:
        """Return this moment on both clocks."""
        return Instant(mono_s=time.monotonic(), wall_s=time.time())
