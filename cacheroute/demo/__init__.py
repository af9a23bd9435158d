"""Counterparts to try CacheRoute with, each a program of its own."""
