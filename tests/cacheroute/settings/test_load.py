import logging
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cacheroute.core.errors import ConfigError
from cacheroute.settings import Loaded, load

HOME = {"HOME": "/home/a"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "gw.yaml"


def problems(
    file: Path, text: str, *overrides: str, environ: Mapping[str, str] = HOME
) -> list[str]:
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load(file, overrides, environ)
    assert not any("\n" in problem for problem in refused.value.problems)
    return refused.value.problems


def test_nothing_given_is_the_defaults() -> None:
    loaded = load(environ=HOME)
    assert loaded.settings.proxy.port == 8001
    assert loaded.settings.state_dir == Path("/home/a/.local/state/cacheroute")
    assert set(loaded.origins.values()) == {"default"}
    assert (loaded.warnings, loaded.notes, loaded.config_file) == ((), (), None)


def test_flag_then_prefixed_variable_then_flat_name_then_file_then_default(file: Path) -> None:
    file.write_text("proxy: {port: 8001}\n")
    flat = HOME | {"PROXY_DP_PORT": "8051"}
    prefixed = flat | {"CACHEROUTE_PROXY__PORT": "8101"}
    steps: list[tuple[Loaded, int, str]] = [
        (load(file, ["proxy.port=8201"], prefixed), 8201, "--set"),
        (load(file, [], prefixed), 8101, "CACHEROUTE_PROXY__PORT"),
        (load(file, [], flat), 8051, "PROXY_DP_PORT"),
        (load(file, [], HOME), 8001, f"{file}:1"),
        (load(None, [], HOME), 8001, "default"),
    ]
    for loaded, port, origin in steps:
        assert loaded.settings.proxy.port == port
        assert loaded.origins["proxy.port"] == origin


def test_off_by_flag_beats_on_in_the_file(file: Path) -> None:
    file.write_text("control: {allow_remote: true}\nproxy: {request_log: /var/log/r}\n")
    loaded = load(file, ["control.allow_remote=false", "proxy.request_log=off"], HOME)
    assert loaded.settings.control.allow_remote is False
    assert loaded.settings.request_log_path() is None


def test_names_that_every_shell_may_set_are_ignored() -> None:
    loaded = load(environ=HOME | {"PORT": "1", "HOST": "x", "DEBUG": "true", "LOG_LEVEL": "x"})
    assert set(loaded.origins.values()) == {"default"}


def test_a_gateway_key_in_the_file_is_below_the_environment(file: Path) -> None:
    file.write_text("server: {port: 8050}\n")
    loaded = load(file, [], HOME | {"PROXY_DP_PORT": "9"})
    assert loaded.settings.proxy.port == 9


@pytest.mark.parametrize("name", ["CACHEROUTE_CONFIG", "CONFIG_PATH"])
def test_the_environment_may_name_the_file(file: Path, name: str) -> None:
    file.write_text("log_level: debug\n")
    loaded = load(environ=HOME | {name: str(file)})
    assert loaded.settings.log_level == "debug"
    assert loaded.config_file == file


def test_a_file_that_is_asked_for_beats_one_the_environment_names(file: Path) -> None:
    file.write_text("log_level: debug\n")
    environ = HOME | {"CONFIG_PATH": "/gone.yaml", "CACHEROUTE_CONFIG": "/gone.yaml"}
    assert load(file, [], environ).settings.log_level == "debug"
    both = HOME | {"CONFIG_PATH": "/gone.yaml", "CACHEROUTE_CONFIG": str(file)}
    assert load(None, [], both).config_file == file


def test_the_file_of_the_console_is_not_read() -> None:
    loaded = load(environ=HOME | {"CACHEROUTE_CONFIG": "/home/a/config.toml"})
    assert loaded.config_file is None
    assert len(loaded.notes) == 1


def test_an_empty_file_starts_with_the_defaults_and_says_so(file: Path) -> None:
    file.write_text("")
    loaded = load(file, [], HOME)
    assert loaded.warnings == (f"{file} is empty: the defaults are used",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "pool:\n  ejecton: {failures: 3}\n",
            "2: pool.ejecton: unknown key; did you mean pool.eje",
        ),
        ("pool:\n  ejection:\n    falures: 3\n", "3: pool.ejection.falures: unknown key; did you"),
        ("pool: {max_instances: many}\n", "1: pool.max_instances: must be a whole number, not 'ma"),
        ("proxy:\n\tport: 1\n", "2: is not valid YAML: a tab stands"),
        ("proxy: {port: 1, port: 2}\n", "1: proxy.port: given twice, first on line 1"),
        ("control: {token: env:NOPE}\n", "1: control.token: the environment variable NOPE is not"),
        ("pool: {ttl_s: -5s}\n", "1: pool.ttl_s: must not be negative, as '-5s' is"),
        ("pool: {ttl_s: -5}\n", "1: pool.ttl_s: must be a positive, finite number, not -5.0"),
        ("timeouts: {total_s: .nan}\n", "1: timeouts.total_s: must be a positive, finite number"),
        ("timeouts: {connect_s: 1:30}\n", "1: timeouts.connect_s: must be a duration such as"),
        ("strategy: {name: rand}\n", "1: strategy.name: no strategy is called 'rand'; there are"),
        ("backends:\n  - name: a\n    url: 'x'\n", "3: backends[0].url: 'x' has no port: write x:"),
        ("pool: {instances: ['::1:80']}\n", "1: pool.instances[0]: '::1:80' is ambiguous: write"),
        ("pool: {ejection: {cool_down_s: 9}}\n", "1: pool.ejection.cool_down_s: cool_down_max_s m"),
        ("control: {host: 0.0.0.0}\n", "1: control.host: 0.0.0.0 can be reached from other mach"),
    ],
)
def test_a_mistake_is_one_line_with_file_line_key_and_reason(
    file: Path, text: str, problem: str
) -> None:
    (line,) = problems(file, text)
    assert line.startswith(f"{file}:{problem}")


def test_every_problem_of_every_source_is_listed_at_once(file: Path) -> None:
    found = problems(
        file,
        "timeouts: {connect_s: -1, first_byte_s: -2, total_s: x}\n"
        "pool: {ttl_s: 0, max_instances: a, reap_after_s: -1}\n"
        "rules: []\n",
        "proxy.prot=1",
        environ=HOME | {"PROXY_CP_PORT": "99999", "CACHEROUTE_POOL__TTLS": "1"},
    )
    about = [line.removeprefix(f"{file}:").partition(": must")[0] for line in found]
    assert about[:3] == ["1: timeouts.total_s", "1: timeouts.connect_s", "1: timeouts.first_byte_s"]
    assert set(about[3:6]) == {"2: pool.max_instances", "2: pool.ttl_s", "2: pool.reap_after_s"}
    assert about[6].startswith("3: rules: this version does not have rules")
    assert set(about[7:]) == {
        "environment: CACHEROUTE_POOL__TTLS: unknown variable; "
        "did you mean CACHEROUTE_POOL__TTL_S?",
        "--set proxy.prot: unknown key; did you mean proxy.port?",
        "environment: PROXY_CP_PORT: control.port",
    }


def test_a_value_that_is_overridden_is_not_judged(file: Path) -> None:
    file.write_text("proxy: {port: 99999}\n")
    assert load(file, ["proxy.port=1"], HOME).settings.proxy.port == 1


def test_problems_without_end_are_counted(file: Path) -> None:
    found = problems(file, "".join(f"zzz{number}: 1\n" for number in range(500)))
    assert len(found) == 101
    assert found[-1] == "and 400 more problems"


def test_references_are_resolved_wherever_they_stand(file: Path) -> None:
    file.write_text("backends: [{name: a, url: env:GPU, api_key: env:KEY}]\n")
    environ = HOME | {"GPU": "gpu:1/v1", "KEY": "k-123", "TOK": "t-123"}
    loaded = load(file, ["control.token=env:TOK", "pool.instances=b:1,api_key=env:KEY"], environ)
    first, second = loaded.settings.static_instances
    assert (first.name, second.name, second.origin.url) == ("b:1", "a", "http://gpu:1")
    assert first.api_key is not None
    assert first.api_key.get_secret_value() == "k-123"
    assert loaded.settings.control.token is not None
    assert loaded.settings.control.token.get_secret_value() == "t-123"


def test_no_secret_is_in_what_is_loaded(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    file.write_text("control: {token: s3cret-1}\nbackends: [{name: a, url: g:1, api_key: env:K}]\n")
    loaded = load(file, ["pool.instances=h:1,api_key=s3cret-3"], HOME | {"K": "s3cret-2"})
    assert "s3cret" not in repr(loaded) + repr(loaded.settings) + str(loaded.origins) + caplog.text


@pytest.mark.parametrize(
    "text",
    [
        "control: {token: s3cret word}",
        "control: {token: [s3cret]}",
        "control: {token: {s3cret: s3cret}}",
        "control: s3cret",
        "backends: [{name: a, url: 'http://u:s3cret@g:1', api_key: s3cret}]",
        "backends: [{name: a, url: 'g:1', api_key: 's3cret two'}]",
        "backends: [{name: a, url: 'env:S', api_key: 'x'}]",
        "backends: [{name: 'env:S', url: 'g:1'}]",
        "proxy: {port: 'env:S'}",
        "proxy: {cors_origins: 'env:S', id: 'env:S', passthrough_paths: ['env:S']}",
        "strategy: {name: 'env:S'}",
        "log_level: env:S",
        "pool: {ttl_s: 'env:S', instances: ['g:1,api_key=s3cret two', 'g:1,key=s3cret']}",
    ],
)
def test_no_secret_is_in_a_problem(file: Path, text: str) -> None:
    found = problems(file, text, environ=HOME | {"S": f"s3cret S3CRET://x{'s3cret' * 20}"})
    assert "s3cret" not in "\n".join(found).lower()


def test_a_bad_value_behind_a_reference_is_told_by_its_variable(file: Path) -> None:
    text = "pool: {ttl_s: env:A, instances: [a:1, 'env:B']}\nbackends: [{name: c, url: env:B}]"
    assert problems(file, text, environ=HOME | {"A": "soon", "B": "gpu"}) == [
        f"{file}:1: pool.ttl_s: is not valid with what env:A holds",
        f"{file}:1: pool.instances[1]: is not valid with what env:B holds",
        f"{file}:2: backends[0].url: is not valid with what env:B holds",
    ]


def test_published_names_without_effect_are_one_note() -> None:
    loaded = load(environ=HOME | {"PROXY_UI_URL": "http://x", "PROXY_CP_URL": "http://y"})
    assert loaded.notes == ("set but without effect in this version: PROXY_CP_URL, PROXY_UI_URL",)
    assert loaded.warnings == ()


def test_cautions_are_warnings_with_their_source() -> None:
    loaded = load(None, ["proxy.host=10.0.0.7"], HOME)
    assert len(loaded.warnings) == 1
    assert loaded.warnings[0].startswith("--set proxy.host: 10.0.0.7 can be reached")


def test_a_start_without_a_file_loads_no_yaml() -> None:
    program = (
        "import sys; from cacheroute.settings import load; load(None, [], {'HOME': '/'});"
        "print([name for name in ('ruamel', 'ruamel.yaml', 'fastapi', 'difflib')"
        " if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.strip() == "[]"
