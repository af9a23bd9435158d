"""Puts a model server that knows nothing of us into a Proxy's pool, and keeps it there.

A program of its own beside the server: it asks the server what it serves, registers it, sends
heartbeats while it answers, and takes it out of the pool when told to stop. Requests never
pass through it; the Proxy talks to the server itself.
"""
