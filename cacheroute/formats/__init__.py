"""Bytes to values and back, pure: SSE, Prometheus text, durations and addresses."""
