"""What stores have in common."""

from cacheroute.core.errors import CacheRouteError
from cacheroute.stores.base import Loaded, StoreError


def test_a_failed_store_is_an_error_of_ours() -> None:
    error = StoreError("The registry /x failed: disk full.")
    assert isinstance(error, CacheRouteError)
    assert (error.code, error.retryable) == ("store_failed", False)


def test_nothing_is_skipped_by_default_and_no_links_are_known() -> None:
    loaded = Loaded(instances=())
    assert (loaded.skipped, loaded.links) == ((), {})
