"""The client costs what it needs, and leaves httpx whole."""

import subprocess
import sys


def said_by(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_the_client_does_not_load_a_command_line_toolkit() -> None:
    heavy = "[m for m in ('rich', 'click', 'pygments', 'fastapi') if m in sys.modules]"

    assert said_by(f"import sys, cacheroute.client.control; print({heavy})") == "[]"


def test_httpx_loads_whole_for_whoever_imports_it_first_and_nothing_is_blocked_after() -> None:
    first = "import httpx, cacheroute.client.control; print(callable(httpx.main))"
    after = "import sys, cacheroute.client.control; print('httpx._main' in sys.modules)"

    assert said_by(first) == "True"
    assert said_by(after) == "False"
