"""What a console can look at: a Proxy over the network, a recording, or a simulated fleet.

All of them answer the questions of `cacheroute.console.source`, so no screen can tell which it is.
"""
