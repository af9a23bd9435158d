"""Each source of the configuration, and what is wrong with it in a line."""

from pathlib import Path

import pytest

from cacheroute_cli.config.layers import Layer
from cacheroute_cli.config.sources import (
    MAX_FILE_BYTES,
    Unreadable,
    from_options,
    from_stack_file,
    from_toml,
    from_variables,
    read_text,
)
from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import UsageFault


def told(layer: Layer | None) -> dict[str, tuple[object, str]]:
    assert layer is not None
    return {key: (one.value, one.origin) for key, one in layer.values.items()}


def test_options_are_taken_as_typed() -> None:
    layer = from_options(Given(context="lab", proxy_url="h:1", interval_s=0.5, output="json"))

    assert told(layer) == {
        "current_context": ("lab", "--context"),
        "proxy_url": ("http://h:1", "--proxy-url"),
        "tui.interval": (0.5, "--interval"),
        "output": ("json", "--output"),
    }


def test_an_address_that_is_typed_wrongly_ends_the_command() -> None:
    with pytest.raises(UsageFault, match="'ftp://h' is not the URL of a control plane"):
        from_options(Given(scheduler_url="ftp://h"))


def test_our_variables_outrank_the_published_ones() -> None:
    environ = {
        "CACHEROUTE_PROXY_URL": "h:1",
        "PROXY_CP_URL": "http://old:1",
        "SCHEDULER_CP_URL": "http://old:2",
        "PROXY_ID": "proxy-a",
        "SCHEDULER_PROXY_LIST_PATH": "/v1/proxy/list",
        "CACHEROUTE_READONLY": "1",
        "CACHEROUTE_INTERVAL": "0.5",
        "CACHEROUTE_THEME": " ",
    }

    own, published = from_variables(environ)

    assert told(own) == {
        "proxy_url": ("http://h:1", "CACHEROUTE_PROXY_URL"),
        "readonly": (True, "CACHEROUTE_READONLY"),
        "tui.interval": (0.5, "CACHEROUTE_INTERVAL"),
    }
    assert told(published) == {
        "proxy_url": ("http://old:1", "PROXY_CP_URL"),
        "scheduler_url": ("http://old:2", "SCHEDULER_CP_URL"),
        "proxy_id": ("proxy-a", "PROXY_ID"),
        "scheduler_list_path": ("/v1/proxy/list", "SCHEDULER_PROXY_LIST_PATH"),
    }


def test_generic_variables_are_nobodys() -> None:
    environ = {"PORT": "1", "HOST": "h", "DEBUG": "1", "OUTPUT": "json", "CONTEXT": "lab"}

    assert [told(layer) for layer in from_variables(environ)] == [{}, {}]


def test_a_variable_that_cannot_be_is_a_sentence() -> None:
    own, _ = from_variables({"CACHEROUTE_OUTPUT": "xml", "CACHEROUTE_READONLY": "maybe"})

    assert own.problems == [
        "CACHEROUTE_READONLY must be true or false, not 'maybe'",
        "CACHEROUTE_OUTPUT must be one of table, plain, wide, json, jsonl, not 'xml'",
    ]


def test_a_file_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert from_toml(tmp_path / "none.toml") is None
    assert from_toml(tmp_path / "file" / "config.toml") is None


def test_every_value_of_a_file_knows_its_line(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('# mine\ntimeout = 3\n\n[contexts.lab]\n\nproxy_url = "h:1"\n')

    layer = from_toml(path)

    assert told(layer) == {"timeout": (3, f"{path}:2")}
    assert layer is not None
    assert layer.contexts["lab"]["proxy_url"].origin == f"{path}:6"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"timeout = \n", "{}:1: is not valid TOML: invalid value"),
        (b"\n\ntimeout = [1,\n", "{}:4: is not valid TOML: invalid value"),
        (b"a = 1\na = 2\n", "{}:2: a is given twice, first on line 1"),
        (b"\ttimeout = 1\nb = \xff\n", "{}:2: is not UTF-8 text"),
        (b"timeout = 'soon'\n", "{}:1: timeout must be a number, not 'soon'"),
        (b"\ntimout = 1\n", "{}:2: timout is not known; did you mean timeout?"),
        (b"timeout = -1\n", "{}:1: timeout must be between 0.001 and 86400, not -1"),
        (b"x = " + b"[" * 5000 + b"]" * 5000, "{}: is nested too deeply"),
        (b"#" * (MAX_FILE_BYTES + 1), "{}: is larger than 1048576 bytes"),
    ],
)
def test_a_broken_file_is_one_line_with_its_place(
    tmp_path: Path, text: bytes, problem: str
) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(text)

    layer = from_toml(path)

    assert layer is not None
    assert layer.problems == [problem.format(path)]


def test_an_empty_file_is_a_good_one(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.touch()

    assert from_toml(path) == Layer(is_empty=True)
    path.write_text(" \n\n")
    assert from_toml(path) == Layer(is_empty=True)
    path.write_text("# later\n")
    assert from_toml(path) == Layer()
    # Whoever names it means to have none.
    assert from_toml(Path("/dev/null")) == Layer()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="is a directory"):
        read_text(tmp_path)


def test_the_console_block_of_a_stack_file_is_a_layer_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "stack.yaml"
    path.write_text(
        "stack: demo\nconsole:\n  proxy_url: 127.0.0.1:9\n  readonly: true\n  tui: {interval: 2}\n"
    )

    layer = from_stack_file(path)

    assert layer.is_of_this_folder
    assert told(layer) == {
        "proxy_url": ("http://127.0.0.1:9", f"{path}:3"),
        "readonly": (True, f"{path}:4"),
        "tui.interval": (2, f"{path}:5"),
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("console:\n  proxy_ur: h\n", "{}:2: proxy_ur is not known; did you mean proxy_url?"),
        ("console: 3\n", "{}:1: console must hold keys and values"),
        (
            "console:\n  contexts: {a: {proxy_url: h, token_file: /etc/shadow}}\n",
            "{}:2: console.contexts is not for a stack file; 'cacheroute context add' keeps "
            "contexts in your own configuration",
        ),
    ],
)
def test_a_console_block_that_is_wrong_is_told_with_its_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "stack.yaml"
    path.write_text(text)

    assert from_stack_file(path).problems == [problem.format(path)]


@pytest.mark.parametrize("text", ["stack: demo\n", "console:\n", "# console:\n", "{not yaml: [\n"])
def test_a_stack_file_without_such_a_block_says_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "stack.yaml"
    path.write_text(text)

    assert from_stack_file(path) == Layer(is_of_this_folder=True)
    assert from_stack_file(tmp_path / "gone.yaml") == Layer(is_of_this_folder=True)


def test_a_stack_file_with_such_a_block_and_no_yaml_is_told(tmp_path: Path) -> None:
    path = tmp_path / "stack.yaml"
    path.write_text("console:\n  - [\n")

    [problem] = from_stack_file(path).problems

    assert problem.startswith(f"{path}:")
    assert "is not valid YAML" in problem
