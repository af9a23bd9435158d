"""Who goes on to an Instance, when, and how long that is predicted to take.

`board` has the two turnstiles before an Instance, `release` the order in which they let
through, `timeline` what is predicted to happen behind them, and `links` the transfers of
KV blobs. All of it is synchronous and handed the time: a change returns who may move on.
"""
