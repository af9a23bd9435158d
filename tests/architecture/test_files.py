"""Files as such: how long they are, what they say first, and what the pins hold."""

import re

from tests.architecture.sources import ROOT, own_files, product

LONGEST = 400
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*")


def test_no_file_holds_more_than_one_idea_can_fill() -> None:
    long = {source.name: source.lines for source in own_files() if source.lines > LONGEST}

    assert long == {}


def test_every_module_says_what_it_is() -> None:
    assert [source.name for source in product() if not source.docstring] == []


def test_every_tests_folder_is_a_package() -> None:
    folders = {source.path.parent for source in own_files() if "tests" in source.path.parts}

    assert [f for f in sorted(folders) if not (f / "__init__.py").exists()] == []


def test_the_pins_are_names_and_versions_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if not PIN.fullmatch(line)] == []
    assert len({line.partition("==")[0].lower() for line in lines}) == len(lines)
