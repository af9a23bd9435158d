"""What is remembered of knowledge nodes."""

from cacheroute.core.health.nodes import MAX_NODES, NodeHealth, Nodes

KDN = "kdn:9101"


def test_a_node_that_nobody_asked_is_unknown() -> None:
    assert Nodes().of(KDN) is None


def test_a_node_is_as_it_is_since_it_changed_and_not_since_it_was_asked_last() -> None:
    nodes = Nodes()
    nodes.answered(KDN, 10.0)
    nodes.answered(KDN, 20.0)
    assert nodes.of(KDN) == NodeHealth(answers=True, since_mono_s=10.0, asked_mono_s=20.0)

    nodes.failed(KDN, "kdn:9101 refused the connection.", 30.0)
    nodes.failed(KDN, "kdn:9101 was silent for 5 s.", 40.0)
    assert nodes.of(KDN) == NodeHealth(
        answers=False, since_mono_s=30.0, asked_mono_s=40.0, error="kdn:9101 was silent for 5 s."
    )

    nodes.answered(KDN, 50.0)
    assert nodes.of(KDN) == NodeHealth(answers=True, since_mono_s=50.0, asked_mono_s=50.0)


def test_every_question_moves_the_version() -> None:
    nodes = Nodes()
    nodes.answered(KDN, 10.0)
    before = nodes.version
    nodes.answered(KDN, 11.0)
    assert nodes.version != before


def test_the_one_asked_longest_ago_is_forgotten_first() -> None:
    nodes = Nodes()
    for number in range(MAX_NODES):
        nodes.answered(f"kdn:{number}", float(number))
    nodes.answered("kdn:0", 5_000.0)
    nodes.answered("one-more:1", 5_001.0)

    assert len(nodes) == MAX_NODES
    assert nodes.of("kdn:1") is None
    assert "kdn:0" in set(nodes)
