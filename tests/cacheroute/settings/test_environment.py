import pytest

from cacheroute.settings.environment import flat_names_without_effect, read_flat, read_prefixed
from cacheroute.settings.layer import Layer
from cacheroute.settings.names import FLAT_NAMES, FLAT_NAMES_WITHOUT_EFFECT, OTHER_PREFIXED_NAMES
from cacheroute.settings.options import options


def values(layer: Layer) -> dict[str, object]:
    return {".".join(path): given.value for path, given in layer.given.items()}


def test_a_prefixed_variable_is_a_path_of_the_tree() -> None:
    layer = read_prefixed(
        {
            "CACHEROUTE_PROXY__PORT": "9000",
            "CACHEROUTE_POOL__EJECTION__COOL_DOWN_S": "500ms",
            "CACHEROUTE_STATE_DIR": "/state",
            "CACHEROUTE_SERVER__DEFAULT_TIMEOUT": "2m",
        }
    )
    assert values(layer) == {
        "pool.ejection.cool_down_s": 0.5,
        "proxy.port": "9000",
        "timeouts.between_bytes_s": 120.0,
        "state_dir": "/state",
    }
    assert layer.given["proxy", "port"].written.origin == "CACHEROUTE_PROXY__PORT"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("CACHEROUTE_PROXY_PORT", "unknown variable; did you mean CACHEROUTE_PROXY__PORT?"),
        ("CACHEROUTE_PROXY__PROT", "unknown variable; did you mean CACHEROUTE_PROXY__PORT?"),
        ("CACHEROUTE_LOGLEVEL", "unknown variable; did you mean CACHEROUTE_LOG_LEVEL?"),
        ("CACHEROUTE_CONTXT", "unknown variable; did you mean CACHEROUTE_CONTEXT?"),
        ("cacheroute_log_level", "unknown variable; did you mean CACHEROUTE_LOG_LEVEL?"),
        ("CACHEROUTE_PROXY", "is a section; set CACHEROUTE_PROXY__ID"),
        ("CACHEROUTE_RULES", "this version does not have rules; take it out"),
        ("CACHEROUTE_", "unknown variable"),
    ],
)
def test_a_prefixed_variable_that_is_no_setting_is_refused(name: str, sentence: str) -> None:
    layer = read_prefixed({name: "1"})
    assert layer.problems == [f"environment: {name}: {sentence}"]


def test_a_key_without_effect_is_one_in_the_environment_as_well() -> None:
    layer = read_prefixed({"CACHEROUTE_BATCHING": "{}"})
    assert layer.warnings == ["environment: CACHEROUTE_BATCHING: has no effect here"]
    assert layer.problems == []


def test_variables_of_the_console_and_the_supervisor_pass() -> None:
    layer = read_prefixed(dict.fromkeys(OTHER_PREFIXED_NAMES, "x"))
    assert (layer.given, layer.problems, layer.warnings) == ({}, [], [])


def test_what_kubernetes_sets_for_a_service_of_our_name_passes() -> None:
    layer = read_prefixed(
        {
            "CACHEROUTE_SERVICE_HOST": "10.1.2.3",
            "CACHEROUTE_SERVICE_PORT": "8001",
            "CACHEROUTE_SERVICE_PORT_HTTP": "8001",
            "CACHEROUTE_PORT": "tcp://10.1.2.3:8001",
            "CACHEROUTE_PORT_8001_TCP": "tcp://10.1.2.3:8001",
            "CACHEROUTE_PORT_8001_TCP_ADDR": "10.1.2.3",
            "CACHEROUTE_PROXY_SERVICE_HOST": "10.1.2.3",
            "CACHEROUTE_PROXY_PORT": "tcp://10.1.2.3:8001",
        }
    )
    assert (layer.given, layer.problems) == ({}, [])


def test_an_empty_variable_is_not_set() -> None:
    assert values(read_prefixed({"CACHEROUTE_PROXY__PORT": " "})) == {}
    assert values(read_flat({"PROXY_CP_PORT": ""})) == {}


@pytest.mark.parametrize(("name", "key"), FLAT_NAMES.items())
def test_every_published_name_sets_what_it_stands_for(name: str, key: str) -> None:
    layer = read_flat({name: "7"})
    assert list(values(layer)) == [key]
    assert next(iter(layer.given.values())).written.origin == name


def test_a_slip_in_a_published_name_is_warned_about() -> None:
    layer = read_flat({"PROXY_INSTANCE_STRATGY": "rr", "PROXY_PASS": "x", "PROXY_UI_URL": "x"})
    assert layer.warnings == [
        "environment: PROXY_INSTANCE_STRATGY is not read; did you mean PROXY_INSTANCE_STRATEGY?"
    ]
    assert (layer.given, layer.problems) == ({}, [])


def test_published_names_of_other_things_are_known_and_do_nothing() -> None:
    environ = dict.fromkeys(FLAT_NAMES_WITHOUT_EFFECT, "1")
    layer = read_flat(environ)
    assert (layer.given, layer.problems, layer.warnings) == ({}, [], [])
    assert flat_names_without_effect(environ) == sorted(FLAT_NAMES_WITHOUT_EFFECT)
    assert flat_names_without_effect({"PROXY_UI_URL": ""}) == []


def test_a_list_of_sections_comes_as_json_with_its_places() -> None:
    layer = read_prefixed({"CACHEROUTE_BACKENDS": '[{"name": "a", "url": "gpu:1", "urll": 1}]'})
    assert layer.problems == [
        "environment: CACHEROUTE_BACKENDS: backends[0].urll: unknown key; did you mean url?"
    ]


def test_json_however_deep_is_no_trace() -> None:
    deep = '[{"name": ' + "[" * 900 + "]" * 900 + "}]"
    layer = read_prefixed({"CACHEROUTE_BACKENDS": deep})
    assert len(layer.problems) <= 1


def test_every_setting_has_a_variable_that_is_read() -> None:
    for path, option in options().items():
        layer = read_prefixed({option.env_name: "[]" if option.items else "1"})
        assert list(layer.given) == [path]
