import pytest

from cacheroute.settings.constraints import (
    header_secret,
    name,
    reachable_host,
    url_path,
    web_origin,
)


@pytest.mark.parametrize(
    "text", ["hp_127.0.0.1:8001", "hp_[::1]:8001", "proxy-a", "A@b", "[::1]:8"]
)
def test_a_name_may_hold_an_address(text: str) -> None:
    assert name(text) == text


@pytest.mark.parametrize("text", ["", ".", "..", "a/b", "../x", "a b", "a\n", "ä", "-a", "x" * 129])
def test_a_name_cannot_leave_its_folder_or_its_line(text: str) -> None:
    with pytest.raises(ValueError, match="1 to 128 letters"):
        name(text)


def test_what_means_all_interfaces_is_told_to_nobody() -> None:
    assert reachable_host("GPU-1") == "gpu-1"
    with pytest.raises(ValueError, match=r"0\.0\.0\.0 means all interfaces"):
        reachable_host("0.0.0.0")


def test_a_path_is_absolute_and_has_no_query() -> None:
    assert url_path("/v1/embeddings/") == "/v1/embeddings"
    for text in ("v1", "/", "", "/a?b", "/a b", "//a", "/a//b"):
        with pytest.raises(ValueError, match="such as /v1/embeddings"):
            url_path(text)


def test_a_web_origin_is_scheme_host_and_port() -> None:
    assert web_origin("*") == "*"
    assert web_origin("https://App.example:8443/") == "https://app.example:8443"
    for text in ("app.example", "https://a/b", "ftp://a", "https://"):
        with pytest.raises(ValueError, match="such as https://app"):
            web_origin(text)


@pytest.mark.parametrize("text", ["", "two words", "line\nbreak", "schlüssel", "x" * 5000])
def test_a_key_that_cannot_stand_in_a_header_is_refused_unseen(text: str) -> None:
    with pytest.raises(ValueError) as refused:
        header_secret(text)
    assert not text or text not in str(refused.value)


def test_a_secret_that_was_to_be_filled_in_is_refused() -> None:
    with pytest.raises(ValueError, match="write env:NAME"):
        header_secret("${CONTROL_TOKEN}")
