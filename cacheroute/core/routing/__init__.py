"""Which Instance gets a request, and why."""
