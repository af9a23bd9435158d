"""Cases run on the loop that the Proxy, or the console, runs on in production."""

import asyncio
from collections.abc import Callable, Iterator, Mapping

import pytest
import uvloop

from tests.tui.idle import cheap_apps


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.path.name.startswith("test_console"):
        return {"asyncio": asyncio.new_event_loop}
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture(autouse=True, scope="session")
def cheap() -> Iterator[None]:
    """Let no console wait or parse more than it needs."""
    with cheap_apps():
        yield
