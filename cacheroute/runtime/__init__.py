"""Composition, the one owner of state, the pipeline and the background loops."""
