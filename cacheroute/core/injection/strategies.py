"""Who decides between text and KV: the Scheduler, or the predicted times.

A strategy is a function of the Task and of the terms, which are None where nothing can be
predicted; the Scheduler's mode stands then.
"""

from collections.abc import Callable

from cacheroute.core.injection import decision as why
from cacheroute.core.injection.decision import InjectionDecision
from cacheroute.core.injection.paths import NOTHING_WANTED
from cacheroute.core.injection.terms import IwsTerms
from cacheroute.core.task import KVCACHE, TEXT, Task

DEFAULT = "default"
IWS = "iws"

Strategy = Callable[[Task, IwsTerms | None], InjectionDecision]


def decide_default(task: Task, terms: IwsTerms | None = None) -> InjectionDecision:
    """Keep what the Scheduler wants; the terms are there to be looked at."""
    return InjectionDecision(
        mode=task.mode, reason=why.SCHEDULER_MODE, strategy=DEFAULT, terms=terms
    )


def decide_iws(task: Task, terms: IwsTerms | None) -> InjectionDecision:
    """Take KV where it is predicted to be faster by the margin, and text otherwise.

    Whether the knowledge node has the KV is not known yet. Knowledge of unknown length is
    not weighed: it goes as text, by the published rule.
    """
    if not (task.has_knowledge and task.knowledge_tokens and task.kdn_address):
        return InjectionDecision(mode=TEXT, reason=NOTHING_WANTED, strategy=IWS, terms=terms)
    if terms is None:
        return InjectionDecision(mode=task.mode, reason=why.ESTIMATION_FAILED, strategy=IWS)
    if terms.kv_wins:
        hidden = terms.kv_prepare_ms <= terms.kv_ready_wait_ms
        reason = why.KV_HIDDEN if hidden else why.KV_BETTER
        return InjectionDecision(mode=KVCACHE, reason=reason, strategy=IWS, terms=terms)
    if terms.kv_queue_wait_ms > 0:
        reason = why.TEXT_CONGESTION
    else:
        reason = why.TEXT_DESPITE_WAIT if terms.text_net_wait_ms > 0 else why.TEXT_BETTER
    return InjectionDecision(mode=TEXT, reason=reason, strategy=IWS, terms=terms)
