"""One command's configuration: every source in its rank, and one fault when it cannot be used."""

import pytest

from cacheroute_cli.config.load import BadConfig, Loaded, UnknownContext, load
from cacheroute_cli.context import Given, resolve
from cacheroute_cli.diagnostics import Exit, UsageFault
from tests.cli.config.conftest import Home

FILE = """\
current_context = "local"
contexts.local = { proxy_url = "http://127.0.0.1:1" }
contexts.lab = { proxy_url = "http://127.0.0.1:2", readonly = true, label = "LAB" }
timeout = 3
"""


def loaded(home: Home, given: Given | None = None, **environ: str) -> Loaded:
    return load(given or Given(), {**home.environ, **environ}, home.here)


def told(one: Loaded, key: str) -> tuple[object, str]:
    value = one.in_force.values[key]
    return value.value, value.origin


def test_without_any_file_the_defaults_hold(home: Home) -> None:
    held = loaded(home).required()

    assert (held.context, held.contexts, held.problems) == (None, {}, [])
    assert told(loaded(home), "proxy_url") == ("http://127.0.0.1:8002", "default")


def test_options_outrank_variables_and_those_the_stack_file_and_that_the_files(home: Home) -> None:
    path = home.write(FILE)
    home.system.parent.mkdir(parents=True)
    home.system.write_text("timeout = 9\ncolor = 'never'\noutput = 'plain'\n")
    (home.here / "stack.yaml").write_text("console:\n  timeout: 4\n  output: wide\n")

    one = loaded(home, Given(timeout_s=1.0), CACHEROUTE_OUTPUT="json")
    assert told(one, "timeout") == (1.0, "--timeout")
    assert told(one, "output") == ("json", "CACHEROUTE_OUTPUT")
    assert told(one, "color") == ("never", f"{home.system}:2")
    assert told(loaded(home), "timeout") == (4, f"{home.here / 'stack.yaml'}:2")
    (home.here / "stack.yaml").unlink()
    assert told(loaded(home), "timeout") == (3, f"{path}:4")
    home.file.unlink()
    assert told(loaded(home), "timeout") == (9, f"{home.system}:1")


def test_the_files_that_were_read_are_named_in_their_rank(home: Home) -> None:
    home.write(FILE)
    (home.here / "stack.yaml").write_text("stack: x\n")

    assert loaded(home).read == (home.here / "stack.yaml", home.file)


@pytest.mark.parametrize(
    ("given", "environ", "context", "url"),
    [
        (Given(), {}, "local", "http://127.0.0.1:1"),
        (Given(context="lab"), {}, "lab", "http://127.0.0.1:2"),
        (Given(), {"CACHEROUTE_CONTEXT": "lab"}, "lab", "http://127.0.0.1:2"),
        (Given(context="lab"), {"CACHEROUTE_PROXY_URL": "h:9"}, "lab", "http://127.0.0.1:2"),
        (
            Given(),
            {"CACHEROUTE_PROXY_URL": "h:9", "CACHEROUTE_CONTEXT": "lab"},
            "lab",
            "http://h:9",
        ),
        (Given(), {"PROXY_CP_URL": "h:9"}, None, "http://h:9"),
        (
            Given(),
            {"PROXY_CP_URL": "h:9", "CACHEROUTE_CONTEXT": "lab"},
            "lab",
            "http://127.0.0.1:2",
        ),
        (Given(proxy_url="h:7"), {"CACHEROUTE_CONTEXT": "lab"}, None, "http://h:7"),
    ],
)
def test_which_proxy_is_meant(
    home: Home, given: Given, environ: dict[str, str], context: str | None, url: str
) -> None:
    home.write(FILE)

    one = loaded(home, given, **environ)

    assert one.in_force.context == context
    assert told(one, "proxy_url")[0] == url


def test_an_unknown_context_lists_those_there_are(home: Home) -> None:
    home.write(FILE)

    with pytest.raises(UnknownContext) as raised:
        loaded(home, Given(context="lba")).required()

    assert raised.value.message == "--context: there is no context 'lba'"
    assert raised.value.hint == "there are local, lab"
    assert raised.value.exit == Exit.USAGE


def test_where_there_are_none_the_way_to_one_is_told(home: Home) -> None:
    with pytest.raises(UnknownContext) as raised:
        loaded(home, CACHEROUTE_CONTEXT="lab").required()

    assert raised.value.message == "CACHEROUTE_CONTEXT: there is no context 'lab'"
    assert raised.value.hint == "'cacheroute context add' makes one"


def test_everything_that_is_wrong_is_told_at_once(home: Home) -> None:
    path = home.write("timeout = 'x'\ncolr = 1\n")

    with pytest.raises(BadConfig) as raised:
        loaded(home, CACHEROUTE_THEME="pink").required()

    assert raised.value.message.splitlines() == [
        "CACHEROUTE_THEME must be one of auto, dark, light, ansi, cb, mono, high-contrast, "
        "not 'pink'",
        f"{path}:1: timeout must be a number, not 'x'",
        f"{path}:2: colr is not known; did you mean color?",
    ]
    assert raised.value.code == "config.invalid"


def test_the_hint_leads_to_where_the_trouble_is(home: Home) -> None:
    with pytest.raises(BadConfig) as of_variable:
        loaded(home, CACHEROUTE_THEME="pink").required()
    home.write("colr = 1\n")
    with pytest.raises(BadConfig) as of_file:
        loaded(home, CACHEROUTE_THEME="pink").required()

    assert of_variable.value.hint == "set the variable to something else, or unset it"
    assert of_file.value.hint == (
        "'cacheroute config edit' opens your file, 'cacheroute config path' names them all"
    )


def test_an_empty_file_is_read_and_known_as_such(home: Home) -> None:
    path = home.write("")

    one = loaded(home)

    assert (one.read, one.empty) == ((path,), (path,))
    home.write("# nothing yet\n")
    assert loaded(home).empty == ()


def test_a_file_that_is_named_must_be_there(home: Home) -> None:
    with pytest.raises(BadConfig, match=r"none\.toml: there is no such file") as raised:
        loaded(home, Given(config_file=str(home.root / "none.toml"))).required()

    assert raised.value.hint == "'cacheroute config init' writes one there"


def test_a_command_gets_it_all_as_its_context(home: Home) -> None:
    home.write(FILE + "[tui]\ninterval = 0.5\n")

    context = resolve(Given(context="lab"), home.environ)

    assert (context.name, context.label, context.readonly) == ("lab", "LAB", True)
    assert (context.proxy_url, context.timeout_s, context.interval_s) == (
        "http://127.0.0.1:2", 3, 0.5,
    )  # fmt: skip
    assert not context.proxy_url_is_default


def test_a_broken_configuration_is_a_wrong_usage_and_no_bug(home: Home) -> None:
    home.write("= 1\n")

    with pytest.raises(UsageFault, match="is not valid TOML"):
        resolve(Given(), home.environ)
