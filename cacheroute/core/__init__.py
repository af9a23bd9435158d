"""What CacheRoute decides and remembers: pure, synchronous code.

Nothing here reads a clock, opens a socket or writes a log. Time and randomness are handed in,
so the same objects serve the live Proxy, the demo Instance and the simulator.
"""
