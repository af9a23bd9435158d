"""Every URL, once."""

import subprocess
import sys

from cacheroute.wire import paths


def test_no_url_has_two_names() -> None:
    urls = [value for name, value in vars(paths).items() if name.isupper() and type(value) is str]
    assert len(urls) == len(set(urls))
    assert all(url.startswith("/") and not url.endswith("/") for url in urls)


def test_an_endpoint_is_a_path_as_instances_list_it() -> None:
    assert paths.endpoint_of("/v1/chat/completions") == "chat/completions"
    assert paths.endpoint_of("/tokenize") == "tokenize"


def test_paths_headers_and_problems_come_without_pydantic() -> None:
    code = (
        "import sys, cacheroute.wire.paths, cacheroute.wire.headers, cacheroute.wire.problem;"
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
