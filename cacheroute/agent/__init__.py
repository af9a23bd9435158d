"""The resource agent: what this host has and how busy it is, over HTTP.

`python -m cacheroute.agent` samples once per interval and serves the newest snapshot
(protocol, 5.1); it reports to nobody. `collect` reads the machine, `snapshot` puts the
readings into the published words, `app` serves them.
"""
