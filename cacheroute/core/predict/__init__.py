"""How long things will take: prefill, decode, moving KV; fitted, corrected, and held to account.

Start reading at `coefficients` (what is known of a fleet) and `service` (what follows for one
request). Everything is in milliseconds, and a prediction is a float: rounding is for the wire.
"""
