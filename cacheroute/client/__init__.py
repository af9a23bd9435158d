"""The one HTTP client of the control plane, for the CLI and the TUI.

`ControlClient` and `AsyncControlClient` have one method for each endpoint; what comes back is
a typed reply, and what goes wrong is one of four faults.
"""
