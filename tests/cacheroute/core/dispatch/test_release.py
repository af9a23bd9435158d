"""In what order prepared requests go."""

from cacheroute.core.dispatch.release import POLICIES, Policy
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Stage, Ticket


def a_policy(**rules: object) -> Policy:
    made = QueueRules(**rules)  # type: ignore[arg-type]
    policy = POLICIES[made.release_policy](made)
    policy.begin()
    return policy


def a_ticket(arrival: int, stage: Stage = "ready", *, is_text: bool = True) -> Ticket:
    ticket = Ticket(is_text=is_text)
    ticket.arrival = ticket.prepare_seq = arrival
    ticket.stage = stage
    return ticket


def test_every_policy_releases_a_head_that_is_prepared() -> None:
    for name in POLICIES:
        head = a_ticket(1, is_text=False)
        assert a_policy(release_policy=name).next(head) is head
        assert not head.bypassed


def test_in_order_nobody_passes_a_head_that_is_not_prepared() -> None:
    policy = a_policy(release_policy="ordered")
    policy.prepared(a_ticket(2))
    assert policy.next(a_ticket(1, "preparing")) is None


def test_text_passes_and_it_is_noted_whom() -> None:
    policy, head, text = (
        a_policy(release_policy="text_bypass"),
        a_ticket(7, "preparing"),
        a_ticket(9),
    )
    policy.prepared(text)
    assert policy.next(head) is text
    assert (text.bypassed, text.blocked_seq) == (True, 7)


def test_what_goes_as_a_blob_does_not_pass() -> None:
    policy = a_policy(release_policy="text_bypass")
    policy.prepared(a_ticket(2, is_text=False))
    assert policy.next(a_ticket(1, "preparing")) is None


def test_the_first_that_came_passes_first_and_only_so_many_in_a_round() -> None:
    policy = a_policy(release_policy="text_bypass", text_bypass_max_per_flush=2)
    head = a_ticket(1, "preparing")
    texts = [a_ticket(n) for n in (4, 2, 3)]
    for text in texts:
        policy.prepared(text)
    passed = []
    for _ in range(3):
        ticket = policy.next(head)
        if ticket is not None:
            policy.left(ticket)
            passed.append(ticket.arrival)
    assert passed == [2, 3]
    policy.begin()
    assert policy.next(head) is texts[0]


def test_it_is_known_beforehand_whether_text_passes() -> None:
    passing = {name: a_policy(release_policy=name).text_passes for name in POLICIES}
    assert passing == {"ordered": False, "text_bypass": True}


def test_one_that_has_gone_passes_nobody() -> None:
    policy = a_policy(release_policy="text_bypass")
    text = a_ticket(2)
    policy.prepared(text)
    policy.left(text)
    policy.left(text)
    assert policy.next(a_ticket(1, "preparing")) is None
