"""A vLLM-like Instance as a model: prefix cache, chunked prefill, continuous batching.

`profile` says what a GPU is like, `blocks` keeps its KV space, `engine` runs the steps.
Time is handed in as model seconds, so a live demo and a virtual clock share one model.
"""
