"""A mapping read key by key, and what is said of values that cannot be."""

import signal
from pathlib import Path

import pytest

from cacheroute_cli.stackfile.document import read_document
from cacheroute_cli.stackfile.section import Section
from cacheroute_cli.stackfile.tree import AUTO
from tests.cli.stackfile.files import a_file


def a_section(folder: Path, text: str) -> tuple[Section, list[str]]:
    path = a_file(folder, text)
    root, wrong = read_document(path)
    assert root is not None
    return Section(root, file=str(path), problems=wrong), wrong


def test_values_are_read_as_what_they_are_asked_for(tmp_path: Path) -> None:
    section, wrong = a_section(
        tmp_path,
        """\
        text: 8b
        whole: 3
        number: 0.5
        flag: false
        word: b
        auto: auto
        port: 80
        counted: 9001+
        per: 5/60s
        pair: [1, 30]
        signal: SIGINT
        texts: [a, 1]
        pairs: {A: true, B: 2, C: ''}
        path: sub/x
        null_: null
        """,
    )

    assert section.text("text") == "8b"
    assert section.whole("whole", 1, 3) == 3
    assert section.number("number", 0, 1) == 0.5
    assert section.flag("flag") is False
    assert section.choice("word", ("a", "b")) == "b"
    assert (section.port("auto"), section.port("port")) == (AUTO, 80)
    assert (section.first_port("counted"), section.first_port("auto")) == (9001, AUTO)
    assert section.per_window("per") == (5, 60.0)
    assert section.first_and_most("pair", 100) == (1.0, 30.0)
    assert section.signal("signal") == signal.SIGINT
    assert section.texts("texts") == ("a", "1")
    assert section.pairs("pairs") == {"A": "true", "B": "2", "C": ""}
    assert section.path_of("path") == tmp_path / "sub/x"
    assert section.text("null_") is None
    assert section.text("none") is None
    section.finish()
    assert wrong == []


@pytest.mark.parametrize(
    ("value", "read", "words"),
    [
        ("[]", lambda s: s.text("a"), "a text, not a list"),
        ("true", lambda s: s.whole("a", 0, 9), "a whole number from 0 to 9, not True"),
        ("10", lambda s: s.whole("a", 0, 9), "a whole number from 0 to 9, not 10"),
        (".nan", lambda s: s.number("a", 0, 9), "a number from 0 to 9, not nan"),
        ("yes", lambda s: s.flag("a"), "true or false, not 'yes'"),
        ("c", lambda s: s.choice("a", ("x", "y")), "x or y, not 'c'"),
        ("0", lambda s: s.port("a"), "a port from 1 to 65535, or auto, not 0"),
        ("9001+", lambda s: s.port("a"), "a port from 1 to 65535, or auto, not '9001+'"),
        ("70000+", lambda s: s.first_port("a"), "9001+, or auto, not '70000+'"),
        ("5", lambda s: s.per_window("a"), "such as 5/60s, not 5"),
        ("5/0s", lambda s: s.per_window("a"), "such as 5/60s, not '5/0s'"),
        ("[3, 1]", lambda s: s.first_and_most("a", 9), "such as [1, 30], not a list"),
        ("[1]", lambda s: s.first_and_most("a", 9), "such as [1, 30], not a list"),
        ("STOP2", lambda s: s.signal("a"), "such as TERM or INT, not 'STOP2'"),
        ("ls -l", lambda s: s.texts("a"), "a list of texts, such as [vllm, serve, MODEL]"),
        ("{x: [1]}", lambda s: s.pairs("a"), "a mapping of names to plain values"),
        ("x", lambda s: s.section("a"), "must hold keys and values, not 'x'"),
    ],
)
def test_a_wrong_value_is_read_as_absent_and_told_with_what_would_do(
    tmp_path: Path, value: str, read: object, words: str
) -> None:
    section, wrong = a_section(tmp_path, f"\na: {value}\n")

    found = read(section)  # type: ignore[operator]

    assert found in (None, (), {}) or isinstance(found, Section)
    [problem] = wrong
    assert f"{tmp_path / 'stack.yaml'}:2: a " in problem
    assert words in problem


def test_what_nobody_asked_for_is_unknown_with_the_nearest_or_all_names(tmp_path: Path) -> None:
    section, wrong = a_section(tmp_path, "prot: 1\nzzz: 2\nhost: h\n")
    section.port("port")
    section.text("host")
    section.finish()

    assert [problem.partition("stack.yaml:")[2] for problem in wrong] == [
        "1: prot is unknown here; did you mean port?",
        "2: zzz is unknown here; known are host, port",
    ]


def test_a_path_in_the_home_of_nobody_is_a_folder_of_that_name(tmp_path: Path) -> None:
    section, wrong = a_section(tmp_path, "path: ~nobody-at-all/x\n")

    assert section.path_of("path") == tmp_path / "~nobody-at-all" / "x"
    assert wrong == []
