"""HTTP/1.1 in both directions: bytes, back-pressure, limits, timeouts. Knows nothing of LLMs."""
