"""A yes is asked for on a terminal, and nowhere else."""

import os
import pty
import subprocess
import sys

import pytest

from cacheroute_cli.confirming import require_yes
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import UsageFault

CODE = """
from cacheroute_cli.confirming import NotConfirmed, require_yes
from cacheroute_cli.context import Context
try:
    require_yes(Context(name="lab", label="LAB"), "drain i-2: 4 requests run\\x1b[2J there")
except NotConfirmed as fault:
    print("no:", fault.message)
else:
    print("yes")
"""


def asked(answer: bytes) -> tuple[str, str]:
    """Answer on a terminal; what was asked there, and what came of it."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", CODE], stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True
    ) as process:
        os.close(theirs)
        question = b""
        while b"[y/N]" not in question:
            question += os.read(ours, 1024)
        os.write(ours, answer)
        out, _ = process.communicate(timeout=30)
    os.close(ours)
    return question.decode(), out.strip()


@pytest.mark.parametrize("answer", [b"y\n", b"Y\n", b" yes \n"])
def test_a_yes_is_a_yes(answer: bytes) -> None:
    question, came = asked(answer)

    assert question.startswith("[LAB] drain i-2: 4 requests run\\x1b[2J there. Go on? [y/N]")
    assert came == "yes"


@pytest.mark.parametrize("answer", [b"\n", b"n\n", b"yesterday\n", b"\x04"])
def test_everything_else_is_a_no(answer: bytes) -> None:
    assert asked(answer)[1] == "no: not confirmed, and nothing was changed"


def test_where_nobody_can_be_asked_it_is_a_wrong_usage_with_the_way_out() -> None:
    with pytest.raises(UsageFault) as caught:
        require_yes(Context(), "drain i-2: 4 requests run there")

    assert "drain i-2: 4 requests run there" in caught.value.message
    assert caught.value.hint == "add -y to do it all the same"
