"""A program's last step before it starts: tie its life to its parent's.

Run by path, with nothing imported but the standard library, as
`python -I -S shim.py PARENT_PID [--folder=DIR] PROGRAM [ARGUMENT]...`. The kernel then sends
SIGTERM when the parent dies, however it dies; this survives the exec that follows.
"""

import ctypes
import os
import signal
import sys

FOLDER = "--folder="
"""What a folder to run in is written behind; no path of a program begins like that."""
_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Ask for the signal, make sure the parent is still there, and become the program."""
    parent = int(arguments[0])
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot ask for a signal at the parent's death")
    # A parent that died before the request above would never be noticed.
    if os.getppid() != parent:
        sys.exit(128 + signal.SIGTERM)
    program = arguments[1:]
    if program[0].startswith(FOLDER):
        os.chdir(program.pop(0).removeprefix(FOLDER))
    os.execv(program[0], program)  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
