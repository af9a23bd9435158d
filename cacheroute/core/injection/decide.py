"""The decision about one request's knowledge, from its Task and its Instance's situation."""

from cacheroute.core.injection.cost import AS_MODELLED, Situation, estimate
from cacheroute.core.injection.decision import InjectionDecision
from cacheroute.core.injection.registry import find
from cacheroute.core.injection.rules import InjectionRules
from cacheroute.core.injection.strategies import decide_default
from cacheroute.core.predict.coefficients import Coefficients
from cacheroute.core.predict.correction import Factors
from cacheroute.core.task import Task


def decide(
    task: Task,
    situation: Situation | None,
    *,
    coefficients: Coefficients,
    rules: InjectionRules,
    factors: Factors = AS_MODELLED,
) -> InjectionDecision:
    """Decide by the strategy of the rules; never fails, but may keep the Scheduler's mode.

    Without a situation nothing is predicted.
    """
    terms = None
    if situation is not None:
        terms = estimate(task, situation, coefficients=coefficients, rules=rules, factors=factors)
    row = find(rules.strategy)
    return row.decide(task, terms) if row is not None else decide_default(task, terms)
