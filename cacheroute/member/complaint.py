"""How a program of ours says why it ends: as the command line does that has started it.

A sentence and a hint for people; where the command was told to speak JSON, one document.
"""

import json
import os
import sys

ERRORS_VARIABLE = "CACHEROUTE_ERRORS"
"""`json` asks for the document; whoever starts a program sets it."""


def complain(sentence: str, *, code: str, exit_code: int, hint: str | None = None) -> int:
    """Write one error to stderr, each line of it one thing to mend; returns the exit code."""
    if os.environ.get(ERRORS_VARIABLE) == "json":
        error = {"code": code, "message": sentence, "hint": hint, "exit": exit_code}
        said = json.dumps({"error": error}, ensure_ascii=False)
    else:
        lines = [f"cacheroute: error: {line}" for line in sentence.splitlines()]
        said = "\n".join([*lines, *([f"  hint: {hint}"] if hint else [])])
    sys.stderr.write(f"{said}\n")
    return exit_code


def remark(sentence: str) -> None:
    """Write what is worth knowing and ends nothing."""
    sys.stderr.write(f"cacheroute: note: {sentence}\n")
