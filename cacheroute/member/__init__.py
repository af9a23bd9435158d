"""What a program does to be a member of a Proxy's pool, whatever it serves.

It registers and keeps its place, hands on what an agent sees of its host, and tells how far
away knowledge nodes are. The demo Instance does this for itself, `attach` for a server that
knows nothing of us.
"""
