"""A program that only serves: a signal ends it well, and its line is there before it ends."""

import signal
import subprocess
import sys

import pytest

from cacheroute.member.running import EXIT_CANNOT_LISTEN

_PROGRAM = """
from cacheroute.member.running import announce, run_until_signal

async def serve(stopping):
    announce("up")
    await stopping.wait()
    announce("down")

run_until_signal(serve)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_as_it_should_end(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        # Nothing flushes a pipe but whoever writes, so a line that is read was sent at once.
        assert program.stdout.readline() == b"up\n"
        program.send_signal(number)
        assert program.stdout.read() == b"down\n"
        assert program.wait(30) == 0


def test_what_it_raises_is_raised() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace('announce("up")', "raise OSError(98, 'taken')")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert "taken" in done.stderr


def test_a_port_it_cannot_have_is_one_sentence_and_its_own_exit_code() -> None:
    program = _PROGRAM.replace(
        'announce("up")',
        "listeners_at(Address('127.0.0.1', 0), Address('192.0.2.1', 9))",
    ).replace(
        "run_until_signal(serve)",
        "import sys\n"
        "from cacheroute.formats.address import Address\n"
        "from cacheroute.member.listeners import listeners_at\n"
        "sys.exit(run_until_signal(serve))",
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.returncode == EXIT_CANNOT_LISTEN
    assert done.stderr.startswith("cacheroute: error: cannot listen on 192.0.2.1:9: ")
    assert done.stderr.count("\n") == 1
