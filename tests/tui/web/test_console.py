"""One console for one browser: it takes what it shows, and no word that would let it change."""

import pytest

from cacheroute_tui.web.console import main


@pytest.mark.parametrize("words", [["--write"], ["--wri"], ["--clipboard=file"]])
def test_a_word_that_it_does_not_know_ends_it(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)

    assert caught.value.code == 2
    assert "unrecognized" in capsys.readouterr().err
