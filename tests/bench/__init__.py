"""What the Proxy costs: CPU time per request and per event, beside nginx and a bare relay.

`make bench` prints a table of about a minute; `make bench-growth` shows how the costs grow
with Instances, streams and requests. Nothing is compiled and nothing leaves loopback.
"""
