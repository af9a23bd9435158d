"""The console's own configuration: contexts, and how things are shown.

What a Proxy does is none of it; those settings are the Proxy's, and only it is asked for them.
"""
