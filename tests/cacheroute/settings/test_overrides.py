import pytest

from cacheroute.settings.overrides import read_overrides


def test_the_last_assignment_of_a_key_counts() -> None:
    layer = read_overrides(["proxy.port=1", "pool.ttl_s=1m", "proxy.port = 2"], {})
    assert {".".join(path): given.value for path, given in layer.given.items()} == {
        "proxy.port": "2",
        "pool.ttl_s": 60.0,
    }
    assert layer.given["proxy", "port"].written.origin == "--set"


def test_a_value_may_hold_an_equals_sign() -> None:
    layer = read_overrides(["pool.instances=gpu:1,api_key=env:K"], {"K": "k=1"})
    assert layer.given["pool", "instances"].value == ["gpu:1,api_key=k=1"]


@pytest.mark.parametrize(
    ("assignment", "problem"),
    [
        ("proxy.port", "--set proxy.port: needs a value, as in --set proxy.port=8001"),
        ("=1", "--set : needs a value, as in --set proxy.port=8001"),
        ("proxy=1", "--set proxy: is a section; set proxy.id"),
        ("proxy.prot=1", "--set proxy.prot: unknown key; did you mean proxy.port?"),
        ("proxy.port=", None),
        ("rules=[]", "--set rules: this version does not have rules; take it out"),
        ("pool.ttl_s=-1s", "--set pool.ttl_s: must not be negative, as '-1s' is"),
    ],
)
def test_what_is_no_assignment_is_refused(assignment: str, problem: str | None) -> None:
    assert read_overrides([assignment], {}).problems == ([problem] if problem else [])


def test_none_takes_a_value_away() -> None:
    layer = read_overrides(["timeouts.total_s=none", "proxy.id="], {})
    assert [given.value for given in layer.given.values()] == [None, None]
