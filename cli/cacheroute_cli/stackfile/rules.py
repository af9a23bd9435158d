"""How each kind of process is kept, where neither its entry nor the file's defaults say.

An entry's own word outranks `defaults`, which outrank the kind.
"""

import signal
from collections.abc import Mapping

from cacheroute_cli.stackfile.tree import Rules
from cacheroute_cli.supervisor.process import RestartRule, StopRule

SERVER = "server"
"""A model server of somebody else's, which is an Instance but keeps its own time."""

_RULES_OF: Mapping[str, Rules] = {
    # Longer than the 30 s a Proxy gives running answers, or it would be killed among them.
    "proxy": Rules(grace_s=40.0),
    # A model is loaded in minutes, and lets go of its GPU in seconds.
    SERVER: Rules(grace_s=30.0, ready_timeout_s=900.0),
    "attach": Rules(ready_timeout_s=60.0),
}
_GRACE_S = 10.0
_READY_TIMEOUT_S = 20.0
_WITH_HEALTHZ = ("kdn", "scheduler", "proxy", "agent")


def rules_for(kind: str, own: Rules, defaults: Rules) -> Rules:
    """Return what holds for one process."""
    return own.over(defaults).over(_RULES_OF.get(kind, Rules()))


def restart_rule(rules: Rules) -> RestartRule:
    """Return when it is started again."""
    usual = RestartRule()
    first_s, longest_s = rules.backoff_s or (usual.first_s, usual.longest_s)
    most, window_s = rules.max_restarts or (usual.most, usual.window_s)
    return RestartRule(
        mode=rules.restart or usual.mode,
        first_s=first_s,
        longest_s=longest_s,
        most=most,
        window_s=window_s,
    )


def stop_rule(rules: Rules) -> StopRule:
    """Return how it is ended."""
    return StopRule(
        signal=rules.stop_signal or signal.SIGTERM.value,
        grace_s=_GRACE_S if rules.grace_s is None else rules.grace_s,
    )


def ready_timeout_s(rules: Rules) -> float:
    """Return how long it may take to become ready."""
    return rules.ready_timeout_s or _READY_TIMEOUT_S


def ready_path(kind: str, own: Rules, defaults: Rules) -> str | None:
    """Return the path or URL that tells its health, where the file says one.

    The one under `defaults` is for our programs that have a `/healthz`: an Instance has its own.
    """
    return own.ready_http or (defaults.ready_http if kind in _WITH_HEALTHZ else None)
