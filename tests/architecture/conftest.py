"""The syntax of all files is read once, and let go when the last of these tests has ended."""

from collections.abc import Iterator

import pytest

from tests.architecture import sources


@pytest.fixture(autouse=True, scope="package")
def trees() -> Iterator[None]:
    """Hold no millions of nodes that each later search for garbage would go through."""
    yield
    sources.parsed.cache_clear()
