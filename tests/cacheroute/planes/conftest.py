"""What every test of the control plane starts from."""

import httpx
import pytest

from tests.cacheroute.planes.control_parts import Owner, a_client


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def client(owner: Owner) -> httpx.AsyncClient:
    return a_client(owner)
