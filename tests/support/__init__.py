"""Counterparts for tests of the whole Proxy: a scripted backend, a raw client, a running Proxy."""
