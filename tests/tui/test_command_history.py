"""Lines that were typed are there again, in this console and the next."""

from pathlib import Path

from cacheroute_tui.command_history import MAX_LINES, CommandHistory


def test_the_next_console_knows_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    CommandHistory(path).add("drain inst-一 [b]")

    assert CommandHistory(path).lines == ["drain inst-一 [b]"]
    assert path.stat().st_mode & 0o077 == 0


def test_only_the_newest_lines_stay(tmp_path: Path) -> None:
    history = CommandHistory(tmp_path / "history")
    for number in range(MAX_LINES + 5):
        history.add(f"show inst-{number}")

    assert len(history.lines) == MAX_LINES
    assert history.lines[-1] == f"show inst-{MAX_LINES + 4}"
    assert CommandHistory(tmp_path / "history").lines == history.lines


def test_a_line_that_is_typed_again_is_kept_once(tmp_path: Path) -> None:
    history = CommandHistory(tmp_path / "history")
    for line in ("status", "loads", "status", "  "):
        history.add(line)

    assert history.lines == ["loads", "status"]


def test_two_consoles_do_not_lose_each_others_lines(tmp_path: Path) -> None:
    one, two = (CommandHistory(tmp_path / "history") for _ in range(2))
    one.add("status")
    two.add("loads")

    assert CommandHistory(tmp_path / "history").lines == ["status", "loads"]


def test_the_newest_line_that_begins_so_is_suggested() -> None:
    history = CommandHistory(None)
    for line in ("show inst-1", "show inst-2", "status"):
        history.add(line)

    assert history.suggested("sh") == "show inst-2"
    assert history.suggested("x") is None
    assert history.suggested("") is None


def test_a_file_that_cannot_be_read_is_as_if_there_were_none(tmp_path: Path) -> None:
    history = CommandHistory(tmp_path)

    history.add("status")

    assert history.lines == ["status"]
