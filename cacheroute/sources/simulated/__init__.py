"""A fleet that is not there: load in waves, Instances that fail and come back, all of it by a seed.

The same seed and the same passing of time give the same fleet, so it serves demonstrations and
tests alike. Nothing here speaks to anybody.
"""

from cacheroute.sources.simulated.source import SimulatedSource

__all__ = ["SimulatedSource"]
