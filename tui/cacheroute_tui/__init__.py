"""The terminal console of CacheRoute."""
