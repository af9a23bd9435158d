"""What an `up` has to do: how the wanted processes differ from those that are there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cacheroute_cli.supervisor.process import ProcessPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Names and plans, by what is to be done with them."""

    new: tuple[ProcessPlan, ...]
    """Wanted, and not there."""
    changed: tuple[ProcessPlan, ...]
    """There, in another shape than is wanted."""
    idle: tuple[str, ...]
    """There as wanted, and neither running nor about to."""
    vanished: tuple[str, ...]
    """There, and not wanted any more."""

    @property
    def is_nothing(self) -> bool:
        """Whether all is as it should be; what has vanished may stay."""
        return not (self.new or self.changed or self.idle)


def compare(
    wanted: Sequence[ProcessPlan],
    present: Mapping[str, ProcessPlan],
    *,
    idle: Collection[str] = (),
    kinds: Collection[str] | None = None,
    keep_changed: bool = False,
) -> Changes:
    """Compare plans; `kinds` looks at some kinds only.

    With `keep_changed`, whatever is there stays as it is, running or not.
    """

    def is_meant(plan: ProcessPlan) -> bool:
        return kinds is None or plan.kind in kinds

    meant = [plan for plan in wanted if is_meant(plan)]
    names = {plan.name for plan in meant}
    changed = [
        plan
        for plan in meant
        if plan.name in present and plan.digest != present[plan.name].digest and not keep_changed
    ]
    other = {plan.name for plan in changed}
    return Changes(
        new=tuple(plan for plan in meant if plan.name not in present),
        changed=tuple(changed),
        idle=tuple(
            p.name for p in meant if p.name in idle and p.name not in other and not keep_changed
        ),
        vanished=tuple(n for n, plan in present.items() if is_meant(plan) and n not in names),
    )
