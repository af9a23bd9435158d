"""YAML with the line of everything, and one sentence about what is no YAML."""

from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.stackfile.document import MAX_FILE_BYTES, BadStackFile, read_document
from tests.cli.stackfile.files import a_file, problems


def test_every_value_knows_its_path_and_its_line(tmp_path: Path) -> None:
    root, wrong = read_document(a_file(tmp_path, "a: 1\nb:\n  - c: x\n  - y\n"))

    assert wrong == []
    assert root is not None
    listed = root.value["b"].value
    assert (root.value["a"].value, root.value["a"].line) == (1, 1)
    assert (listed[0].value["c"].path, listed[0].value["c"].line) == ("b[0].c", 3)
    assert (listed[1].value, listed[1].key_line) == ("y", 4)


def test_an_empty_file_is_no_document(tmp_path: Path) -> None:
    assert read_document(a_file(tmp_path, "# nothing\n")) == (None, [])


def test_a_key_that_is_given_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    assert problems(tmp_path, "proxy:\n  port: 1\n  port: 2\n") == [
        ":3: proxy.port is given twice, first on line 2; keep one of them"
    ]


def test_no_clever_reading(tmp_path: Path) -> None:
    root, _ = read_document(a_file(tmp_path, "a: 1:30\nb: no\nc: 2030-01-01\nd: 010\n"))

    assert root is not None
    assert [entry.value for entry in root.value.values()] == ["1:30", "no", "2030-01-01", 10]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a:\n\tb: 1\n", "2: is not valid YAML: a tab stands where indentation"),
        ("a: [1\n", "is not valid YAML: "),
        ("a: &x 1\nb: *y\n", "2: is not valid YAML: "),
        ("a: " + "[" * 40 + "]" * 40, "1: holds more values, or deeper, than a stack"),
        ("a: !!python/object:os.system 1\n", "has a tag"),
        ("d: &d {x: 1}\nproxy:\n  <<: *d\n", "3: << is not supported"),
    ],
)
def test_what_is_no_plain_yaml_is_one_sentence_with_its_line(
    tmp_path: Path, text: str, words: str
) -> None:
    assert any(words in problem for problem in problems(tmp_path, text))


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    big, binary = tmp_path / "big.yaml", tmp_path / "binary.yaml"
    big.write_text("#" * (MAX_FILE_BYTES + 1))
    binary.write_bytes(b"a: 1\nb: \xff\n")

    for path, words in (
        (tmp_path / "none.yaml", "none.yaml: no such file or directory"),
        (tmp_path, "is a directory"),
        (big, "is larger than"),
        (binary, "binary.yaml:2: is not UTF-8 text"),
    ):
        with pytest.raises(BadStackFile, match=words) as caught:
            read_document(path)
        assert caught.value.exit == Exit.USAGE
