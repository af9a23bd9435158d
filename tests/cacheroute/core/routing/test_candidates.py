from cacheroute.core.pool_member import Member
from cacheroute.core.routing.candidates import Candidates
from cacheroute.core.routing.filters import Sifted
from cacheroute.core.routing.selection import Chosen
from cacheroute.core.routing.strategies import RoundRobin
from cacheroute.core.routing.tiers import Tiers
from cacheroute.core.routing.weights import Weights
from tests.cacheroute.core.routing.routing_builders import a_request, instances


def test_lists_of_the_same_members_share_all_but_who_was_skipped_and_the_turn() -> None:
    members = [Member(one) for one in instances(3)]
    strategy, tiers = RoundRobin(Weights()), Tiers(members)
    strategy.begin(tiers, 0.0)
    lists = [Candidates(Sifted(list(members), {why: ["gone"]}), tiers) for why in ("dead", "stale")]
    served = []
    for candidates in [*lists, lists[0]]:
        selection = strategy.select(a_request(), candidates, 0.0)
        assert isinstance(selection, Chosen)
        served.append(selection.member)
    assert served == [members[0], members[1], members[1]]
    assert [list(one.sifted.skipped) for one in lists] == [["dead"], ["stale"]]
    assert lists[0].members is lists[1].members is members
