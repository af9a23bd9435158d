"""A few Instances taken out of the document, with all that is known of them."""

from cacheroute.wire.console import Columns, ConsoleSnapshot, Identities, Lists, only
from cacheroute.wire.console_columns import spread_lists


def test_a_few_instances_can_be_taken_out_of_a_document() -> None:
    whole = ConsoleSnapshot(
        rev=1,
        generated_at=0.0,
        identities=Identities(
            ids=["a", "b", "c"], port=[1, 2, 3], tags=Lists(values=[["x"], []], at=[0, 1, 0])
        ),
        instances=Columns(inflight=[7, 8, 9], state="alive"),
    )

    few = only(whole, ["c", "a", "z"])

    assert few.ids == ["a", "c"]
    assert few.identities is not None
    assert few.identities.port == [1, 3]
    assert spread_lists(few.identities.tags, 2) == [["x"], ["x"]]
    assert (few.instances.inflight, few.instances.state) == ([7, 9], "alive")
