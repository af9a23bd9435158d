from pathlib import Path

import pytest

from cacheroute.settings.crosschecks import cautions, contradictions
from cacheroute.settings.tree import Settings


def settings(**tree: object) -> Settings:
    return Settings.model_validate(tree)


def test_the_defaults_contradict_nothing_and_need_no_caution() -> None:
    assert list(contradictions(Settings())) == []
    assert list(cautions(Settings())) == []


def test_a_control_plane_beyond_loopback_needs_a_token_or_a_word() -> None:
    ((where, text),) = contradictions(settings(control={"host": "0.0.0.0"}))
    assert where == ("control", "host")
    assert "set control.token, or control.allow_remote" in text
    assert list(contradictions(settings(control={"host": "0.0.0.0", "token": "t"}))) == []
    allowed = settings(control={"host": "0.0.0.0", "allow_remote": True})
    assert list(contradictions(allowed)) == []
    ((where, text),) = cautions(allowed)
    assert where == ("control", "host")
    assert "nobody there is asked for a token" in text


def test_a_service_plane_beyond_loopback_says_what_that_exposes() -> None:
    found = list(cautions(settings(proxy={"host": "0.0.0.0"})))
    assert [where for where, _ in found] == [("proxy", "host"), ("proxy", "advertise_host")]
    assert "can use the Instances" in found[0][1]
    assert "they are told 127.0.0.1" in found[1][1]


@pytest.mark.parametrize(
    ("proxy", "control", "clash"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("0.0.0.0", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.2", False),
    ],
)
def test_two_planes_cannot_share_a_port(proxy: str, control: str, clash: bool) -> None:
    both = settings(proxy={"host": proxy, "port": 9}, control={"host": control, "port": 9})
    assert [where for where, _ in contradictions(both)] == [("control", "port")] * clash


def test_two_planes_may_both_take_any_free_port() -> None:
    assert list(contradictions(settings(proxy={"port": 0}, control={"port": 0}))) == []


def test_names_and_addresses_of_backends_are_unique() -> None:
    clash = settings(
        backends=[
            {"name": "a", "url": "gpu:1"},
            {"name": "a", "url": "gpu:2"},
            {"name": "b", "url": "http://gpu:1/v1"},
        ]
    )
    assert list(contradictions(clash)) == [
        (("backends", 1, "name"), "'a' is the name of backends[0] as well"),
        (
            ("backends", 2, "url"),
            "http://gpu:1 is the address of backends[0] as well, with the same model_name",
        ),
    ]


def test_one_url_may_be_named_once_for_each_model_behind_it() -> None:
    def clashes(*model_names: str) -> list[object]:
        backends = [
            {"name": f"b-{index}", "url": "gpu:1", "model_name": model_name}
            for index, model_name in enumerate(model_names)
        ]
        return [where for where, _ in contradictions(settings(backends=backends))]

    assert clashes("m1", "m2", "") == []
    assert clashes("m1", "m2", "m1") == [("backends", 2, "url")]


def test_no_instance_is_a_metadata_service() -> None:
    bad = settings(
        backends=[{"name": "a", "url": "169.254.169.254:80"}], pool={"instances": ["[fe80::1]:80"]}
    )
    assert [where for where, _ in contradictions(bad)] == [
        ("backends", 0, "url"),
        ("pool", "instances", 0),
    ]


def test_an_instance_named_twice_is_a_caution() -> None:
    twice = settings(pool={"instances": ["gpu:1", "http://gpu:1/"]})
    assert list(cautions(twice)) == [
        (("pool", "instances", 1), "http://gpu:1 is named twice and counts once")
    ]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:8002", "http://127.0.0.1:8002 is control.port of this Proxy itself"),
        ("http://localhost:8001", "http://localhost:8001 is proxy.port of this Proxy itself"),
        ("http://169.254.169.254:80", "169.254.169.254 is a cloud metadata service"),
    ],
)
def test_a_scheduler_is_somebody_else(url: str, said: str) -> None:
    ((where, text),) = contradictions(settings(scheduler={"url": url}))
    assert where == ("scheduler", "url")
    assert text.startswith(said)


def test_a_scheduler_elsewhere_must_be_told_where_to_send_requests() -> None:
    ((where, text),) = cautions(settings(scheduler={"url": "http://10.0.0.3:7002"}))
    assert where == ("scheduler", "url")
    assert text.endswith("set proxy.advertise_host")
    reachable = settings(
        scheduler={"url": "http://10.0.0.3:7002"}, proxy={"advertise_host": "10.0.0.7"}
    )
    assert list(cautions(reachable)) == []


def test_nodes_that_may_be_asked_are_no_metadata_services_and_any_is_a_caution() -> None:
    bad = settings(kdn={"allow": ["10.0.0.7:9101", "169.254.169.254:80"]})
    assert [where for where, _ in contradictions(bad)] == [("kdn", "allow", 1)]
    anybody = settings(kdn={"allow": ["*"]})
    assert list(contradictions(anybody)) == []
    assert [where for where, _ in cautions(anybody)] == [("kdn", "allow")]


def test_a_file_of_coefficients_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    missing = tmp_path / "none.json"
    ((where, text),) = contradictions(settings(predict={"coefficients": str(missing)}))
    assert where == ("predict", "coefficients")
    assert text == f"{missing}: no such file or directory"
