"""Failures that users of LLM proxies met in public, each with the id of its case."""
