"""A fault is a sentence with its values."""

from cacheroute.client.faults import NotUnderstood, Refused, TimedOut, Unreachable

URL = "http://127.0.0.1:8002/healthz"


def test_every_fault_names_what_was_asked_and_what_came() -> None:
    assert str(Unreachable(url=URL, cause="connection refused")) == (
        f"cannot reach {URL} (connection refused)"
    )
    assert str(TimedOut(url=URL, timeout_s=5.0)) == f"{URL} did not answer within 5 s"
    assert str(Refused(url=URL, status=503, body="draining")) == f"{URL} answered 503: draining"
    assert str(Refused(url=URL, status=404, body="")) == f"{URL} answered 404"
    assert str(NotUnderstood(url=URL, why="no JSON")) == (
        f"the answer of {URL} is not understood: no JSON"
    )
