from cacheroute.settings.names import (
    FLAT_NAMES,
    FLAT_NAMES_WITHOUT_EFFECT,
    GATEWAY_KEYS,
    KEYS_NOT_BUILT,
    KEYS_WITHOUT_EFFECT,
    OTHER_PREFIXED_NAMES,
)
from cacheroute.settings.options import options


def test_every_published_name_leads_to_a_setting() -> None:
    keys = {option.key for option in options().values()}
    assert set(FLAT_NAMES.values()) <= keys
    assert set(GATEWAY_KEYS.values()) <= keys


def test_no_name_is_in_two_tables() -> None:
    keys = {option.key for option in options().values()}
    env_names = {option.env_name for option in options().values()}
    assert not FLAT_NAMES.keys() & FLAT_NAMES_WITHOUT_EFFECT
    assert not KEYS_WITHOUT_EFFECT & KEYS_NOT_BUILT
    assert not (KEYS_WITHOUT_EFFECT | KEYS_NOT_BUILT) & (keys | GATEWAY_KEYS.keys())
    assert not OTHER_PREFIXED_NAMES & env_names


def test_names_that_every_shell_may_set_are_in_no_table() -> None:
    assert not {"PORT", "HOST", "DEBUG"} & (FLAT_NAMES.keys() | FLAT_NAMES_WITHOUT_EFFECT)
