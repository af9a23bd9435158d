"""What the shell may complete: commands and options from a file, names from what was last seen.

Nothing here asks a Proxy, and only the making of that file imports the toolkit of the commands.
"""
