"""Stack files for tests."""

from pathlib import Path
from textwrap import dedent

import pytest

from cacheroute_cli.stackfile.document import BadStackFile
from cacheroute_cli.stackfile.read import read_stack_file
from cacheroute_cli.stackfile.tree import StackFile


def a_file(folder: Path, text: str, name: str = "stack.yaml") -> Path:
    path = folder / name
    path.write_text(dedent(text), encoding="utf-8")
    return path


def read(folder: Path, text: str) -> StackFile:
    return read_stack_file(a_file(folder, text))


def problems(folder: Path, text: str) -> list[str]:
    """Return what is wrong with a file, without its path."""
    path = a_file(folder, text)
    with pytest.raises(BadStackFile) as caught:
        read_stack_file(path)
    return [line.removeprefix(f"{path}") for line in caught.value.message.splitlines()]
