"""The decision about one request's knowledge, from its Task and its Instance's situation."""

from cacheroute.core.injection.cost import Situation, estimate
from cacheroute.core.injection.decision import InjectionDecision
from cacheroute.core.injection.registry import BY_NAME
from cacheroute.core.injection.rules import InjectionRules
from cacheroute.core.predict.coefficients import Coefficients
from cacheroute.core.predict.correction import AS_MODELLED, Factors
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
    return BY_NAME[rules.strategy].decide(task, terms)
