"""One question, and how it is put."""

from cacheroute.client.ask import Ask


def test_what_sends_nothing_is_a_get() -> None:
    assert Ask(path="/healthz", reply=bytes).method == "GET"
    assert Ask(path="/healthz", reply=bytes, body=b"{}").method == "POST"
