"""Which Instances have earned a rest, from what requests saw."""
