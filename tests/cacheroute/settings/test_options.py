import pytest

from cacheroute.settings.docs import field_docs
from cacheroute.settings.instances import Backend, StaticInstance
from cacheroute.settings.options import Kind, Option, env_name, field_names, options, sections
from cacheroute.settings.tree import Settings


@pytest.mark.parametrize("option", options().values(), ids=lambda option: option.key)
def test_every_setting_has_its_text(option: Option) -> None:
    assert option.doc.endswith("."), f"{option.key} has no sentence under it"


@pytest.mark.parametrize("cls", [Settings, Backend, StaticInstance])
def test_every_section_and_list_entry_has_its_text(cls: type) -> None:
    missing = [name for name in field_names(cls) if name not in field_docs(cls)]
    assert missing == []


def test_the_name_of_a_setting_says_how_it_is_read() -> None:
    kinds = {option.key: option.kind for option in options().values()}
    assert kinds["pool.ttl_s"] is Kind.DURATION
    assert kinds["timeouts.total_s"] is Kind.DURATION
    assert kinds["limits.body_bytes"] is Kind.SIZE
    assert kinds["control.token"] is Kind.SECRET
    assert kinds["pool.instances"] is Kind.LIST
    assert kinds["backends"] is Kind.SECTIONS
    assert kinds["state_dir"] is Kind.PATH
    assert kinds["proxy.forward_authorization"] is Kind.FLAG
    assert kinds["proxy.max_capacity"] is Kind.NUMBER
    assert kinds["strategy.name"] is Kind.TEXT
    assert kinds["kdn.links"] is Kind.MAPPING


def test_what_may_be_none_is_one_value_and_no_section() -> None:
    by_key = {option.key: option for option in options().values()}
    assert (by_key["scheduler.url"].kind, by_key["scheduler.url"].nullable) == (Kind.TEXT, True)


def test_only_fields_are_settings() -> None:
    assert not [option.key for option in options().values() if "__" in option.key]


def test_a_path_has_one_environment_variable() -> None:
    assert env_name(("pool", "ejection", "failures")) == "CACHEROUTE_POOL__EJECTION__FAILURES"
    assert len({option.env_name for option in options().values()}) == len(options())


def test_sections_list_what_may_stand_in_them() -> None:
    assert sections()["pool", "ejection"] == (
        "failures",
        "cool_down_s",
        "cool_down_max_s",
        "retry_after_max_s",
    )
    assert "ejection" in sections()["pool",]
    assert sections()[()][0] == "proxy"


def test_a_default_is_the_one_of_the_tree() -> None:
    by_key = {option.key: option for option in options().values()}
    assert by_key["proxy.port"].default == Settings().proxy.port
    assert by_key["pool.ttl_s"].default == Settings().pool.ttl_s
    assert by_key["timeouts.total_s"].nullable
    assert not by_key["proxy.port"].nullable
