"""The command line of CacheRoute."""
