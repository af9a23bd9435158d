from pathlib import Path

import pytest

from cacheroute.core.errors import ConfigError
from cacheroute.settings.file import MAX_FILE_BYTES, read_file
from cacheroute.settings.layer import Layer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "gw.yaml"


def read(file: Path, text: str | bytes) -> Layer:
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_file(file, {})


def values(layer: Layer) -> dict[str, object]:
    return {".".join(path): given.value for path, given in layer.given.items()}


def test_keys_become_settings_with_their_lines(file: Path) -> None:
    layer = read(file, "proxy:\n  port: 9000\n\npool:\n  ttl_s: 1m\nlog_level: debug\n")
    assert values(layer) == {"proxy.port": 9000, "pool.ttl_s": 60.0, "log_level": "debug"}
    assert [given.written.origin for given in layer.given.values()] == [
        f"{file}:2",
        f"{file}:5",
        f"{file}:6",
    ]


def test_the_file_of_the_gateway_is_read_as_it_is_written(file: Path) -> None:
    layer = read(
        file,
        """\
server:
  port: 8050
  health_check_interval: 30s
  default_timeout: 120s
  branding: {headers: true}
backends:
  - name: local
    url: http://gpu:8000
    type: vllm
    max_concurrent: null
batching: {enabled: false}
""",
    )
    assert layer.problems == []
    assert values(layer) == {
        "proxy.port": 8050,
        "pool.health_check_interval_s": 30.0,
        "timeouts.between_bytes_s": 120.0,
        "backends": [
            {"name": "local", "url": "http://gpu:8000", "type": "vllm", "max_concurrent": None}
        ],
    }
    assert layer.warnings == [
        f"{file}:5: server.branding: has no effect here",
        f"{file}:11: batching: has no effect here",
    ]


@pytest.mark.parametrize("text", ["", "# nothing\n", "~\n", "{}\n", "\ufeff"])
def test_an_empty_file_is_the_defaults_and_says_so(file: Path, text: str) -> None:
    layer = read(file, text)
    assert layer.warnings == [f"{file} is empty: the defaults are used"]
    assert (layer.given, layer.problems) == ({}, [])


def test_an_empty_section_is_no_problem(file: Path) -> None:
    layer = read(file, "proxy:\npool: {}\n")
    assert (layer.given, layer.problems) == ({}, [])


def test_a_key_given_twice_is_refused_with_both_lines(file: Path) -> None:
    layer = read(file, "proxy:\n  port: 1\n  host: h\n  port: 2\nproxy: {}\n")
    assert layer.problems == [
        f"{file}:4: proxy.port: given twice, first on line 2",
        f"{file}:5: proxy: given twice, first on line 1",
    ]


def test_something_inside_a_list_has_its_own_line(file: Path) -> None:
    layer = read(file, "backends:\n  - name: a\n    url: gpu:1\n    max_concurent: 3\n")
    assert layer.problems == [
        f"{file}:4: backends[0].max_concurent: unknown key; did you mean max_concurrent?"
    ]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("proxy: 3\n", "proxy"),
        ("pool:\n  ejection: [1]\n", "pool.ejection"),
        ("server: x", "server"),
    ],
)
def test_a_section_is_not_a_value(file: Path, text: str, where: str) -> None:
    layer = read(file, text)
    assert len(layer.problems) == 1
    assert f": {where}: is a section and takes keys such as " in layer.problems[0]


@pytest.mark.parametrize("text", ["hello\n", "- a\n", "5\n"])
def test_a_file_holds_keys(file: Path, text: str) -> None:
    assert read(file, text).problems == [
        f"{file}:1: must hold keys and values, such as proxy: {{port: 8001}}"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("proxy:\n\tport: 1\n", ":2: is not valid YAML: a tab stands where indentation"),
        ("a: b: c\n", ":1: is not valid YAML: mapping values are not allowed here"),
        ("proxy: {port: 1\n", ":2: is not valid YAML: expected ',' or '}'"),
        ("a: 1\n---\nb: 2\n", ":2: is not valid YAML: expected a single document"),
        ("proxy: *gone\n", ":1: is not valid YAML: found undefined alias"),
        ("a: \x00\n", ": is not valid YAML: "),
        pytest.param("[" * 5000, ": is nested too deeply", id="nested"),
        (b"proxy:\n  id: \xff\n", ":2: is not UTF-8 text"),
        pytest.param("#" * (MAX_FILE_BYTES + 1), ": is larger than 1048576 bytes", id="large"),
        ("proxy: &a\n  id: *a\n", "holds more values, or deeper, than settings"),
        (
            "a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
            "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
            "e: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
            "holds more values, or deeper, than settings",
        ),
        ("proxy:\n  <<: 3\n", ":2: << takes a mapping"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    file: Path, text: str | bytes, problem: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        read(file, text)
    assert len(refused.value.problems) == 1
    line = refused.value.problems[0]
    assert line.startswith(f"{file}:")
    assert problem in line
    assert "\n" not in line


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file or directory"):
        read_file(tmp_path / "gone.yaml", {})
    with pytest.raises(ConfigError, match="is a directory"):
        read_file(tmp_path, {})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("proxy: {forward_authorization: off}", "off"),
        ("proxy: {forward_authorization: false}", False),
        ("proxy: {id: 2024-01-01}", "2024-01-01"),
        ("proxy: {id: 1:30}", "1:30"),
        ("proxy: {max_capacity: 0x10}", 16),
    ],
)
def test_scalars_are_those_of_yaml_1_2(file: Path, text: str, value: object) -> None:
    assert list(values(read(file, text)).values()) == [value]


def test_a_number_of_any_length_is_no_trace(file: Path) -> None:
    layer = read(file, f"proxy: {{port: {'9' * 6000}}}")
    assert values(layer) == {"proxy.port": "9" * 6000}


@pytest.mark.parametrize("text", ["proxy: !x {port: 1}", "proxy: {id: !!python/name:os.system x}"])
def test_tags_are_not_followed(file: Path, text: str) -> None:
    layer = read(file, text)
    assert len(layer.problems) == 1
    assert "is not supported" in layer.problems[0]


def test_anchors_and_merges_work(file: Path) -> None:
    layer = read(
        file,
        "backends:\n"
        "  - &base {name: a, url: 'gpu:1', max_concurrent: 3}\n"
        "  - {<<: *base, name: b, url: 'gpu:2'}\n"
        "  - {<<: [{max_concurrent: 5}, *base], name: c}\n",
    )
    assert layer.problems == []
    assert values(layer)["backends"] == [
        {"name": "a", "url": "gpu:1", "max_concurrent": 3},
        {"name": "b", "url": "gpu:2", "max_concurrent": 3},
        {"name": "c", "url": "gpu:1", "max_concurrent": 5},
    ]


def test_keys_that_are_not_text_are_unknown_keys(file: Path) -> None:
    layer = read(file, "1: 2\n? [a]\n: 3\n")
    assert len(layer.problems) == 2
    assert all("unknown key" in problem for problem in layer.problems)
