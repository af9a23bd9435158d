"""What CacheRoute decides and remembers, without a clock, a socket or a surprise.

Everything here is synchronous and is handed the time and the randomness it needs, so the
same objects serve the live Proxy, the demo Instance and the simulator.
"""
