"""A knowledge node (KDN) in small: texts by id, their KV cache, and the way of both to Instances.

A text is looked up by the SHA-256 of its normalised form. Its KV cache is what an engine wrote
into Redis when it was asked for exactly that text; an injection writes it into the Redis of
another Instance, after the time that a simulated link takes for its nominal size.
"""
