"""Modules that wait until they are needed."""

import subprocess
import sys

import pytest

from cacheroute.client.later import later

_WANTED = """
import sys
from cacheroute.client.control import AsyncControlClient
client = AsyncControlClient("http://127.0.0.1:9")
print(sorted({"pydantic", "cacheroute.client.asks", "cacheroute.wire.debug"} & set(sys.modules)))
"""


def test_a_module_is_loaded_by_the_first_look_into_it() -> None:
    sys.modules.pop("colorsys", None)
    colours = later("colorsys")

    assert "colorsys" not in sys.modules
    assert colours.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)
    assert "colorsys" in sys.modules


def test_what_a_module_does_not_have_is_said_as_ever() -> None:
    with pytest.raises(AttributeError):
        _ = later("colorsys").nothing


def test_a_client_that_has_asked_nothing_has_loaded_no_models() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _WANTED], capture_output=True, text=True, check=True
    ).stdout

    assert told == "[]\n"
