from pathlib import Path

import pytest
from pydantic import ValidationError

from cacheroute.core.limits import Limits, Timeouts
from cacheroute.settings.tree import Settings, default_state_dir


def test_defaults_are_those_of_the_core() -> None:
    settings = Settings()
    assert settings.limits == Limits()
    assert settings.timeouts == Timeouts()
    assert (settings.proxy.host, settings.proxy.port) == ("127.0.0.1", 8001)
    assert (settings.control.host, settings.control.port) == ("127.0.0.1", 8002)
    assert settings.static_instances == ()


def test_the_tree_is_frozen_and_knows_no_other_keys() -> None:
    with pytest.raises(ValidationError):
        Settings().log_level = "debug"
    with pytest.raises(ValidationError):
        Settings().proxy.port = 1
    with pytest.raises(ValidationError):
        Settings.model_validate({"prxy": {}})
    with pytest.raises(ValidationError):
        Settings.model_validate({"timeouts": {"conect_s": 1}})


def test_the_tree_reads_no_environment_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "debug")
    monkeypatch.setenv("PROXY", "{}")
    assert Settings().log_level == "info"


def test_a_validation_error_never_shows_what_it_was_given() -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate(
            {"control": {"token": ["s3cret"]}, "backends": [{"api_key": "s3cret"}]}
        )
    assert "s3cret" not in str(refused.value)


def test_state_stands_where_xdg_says() -> None:
    assert default_state_dir({"XDG_STATE_HOME": "/state"}) == Path("/state/cacheroute")
    assert default_state_dir({"HOME": "/home/a"}) == Path("/home/a/.local/state/cacheroute")
    relative = {"XDG_STATE_HOME": "state", "HOME": "/home/a"}
    assert default_state_dir(relative) == Path("/home/a/.local/state/cacheroute")


def test_each_proxy_has_a_folder_and_a_request_log_in_it() -> None:
    settings = Settings.model_validate({"state_dir": "/state", "proxy": {"port": 0}})
    assert settings.proxy_state_dir(9) == Path("/state/hp_127.0.0.1:9")
    assert settings.request_log_path(9) == Path("/state/hp_127.0.0.1:9/requests.jsonl")


@pytest.mark.parametrize(
    ("given", "path"),
    [("off", None), (False, None), ("/var/log/r.jsonl", Path("/var/log/r.jsonl"))],
)
def test_the_request_log_can_be_off_or_elsewhere(given: object, path: Path | None) -> None:
    settings = Settings.model_validate({"proxy": {"request_log": given}})
    assert settings.request_log_path() == path


def test_a_home_folder_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/a")
    settings = Settings.model_validate({"state_dir": "~/s", "proxy": {"request_log": "~/r"}})
    assert settings.state_dir == Path("/home/a/s")
    assert settings.request_log_path() == Path("/home/a/r")


def test_an_address_named_in_both_lists_is_one_instance_with_its_options() -> None:
    settings = Settings.model_validate(
        {
            "pool": {"instances": ["gpu:1", "http://gpu:1/v1", "gpu:2"]},
            "backends": [{"name": "big", "url": "gpu:2"}],
        }
    )
    assert [instance.name for instance in settings.static_instances] == ["gpu:1", "big"]


def test_one_url_is_an_instance_for_each_model_behind_it() -> None:
    settings = Settings.model_validate(
        {
            "pool": {"instances": ["gpu:1"]},
            "backends": [
                {"name": "base", "url": "gpu:1", "model_name": "m1"},
                {"name": "adapter", "url": "gpu:1/v1", "model_name": "m2"},
            ],
        }
    )
    assert [instance.name for instance in settings.static_instances] == ["base", "adapter"]
