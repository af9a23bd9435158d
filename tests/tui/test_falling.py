"""A bug anywhere ends the console, and is kept for whoever runs it."""

from typing import NoReturn

import pytest

from cacheroute_tui.falling import Falling


class Buggy(Falling):
    """Falls at once."""

    def on_mount(self) -> NoReturn:
        raise RuntimeError("odd")


async def test_the_bug_is_kept_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    app = Buggy()
    with pytest.raises(RuntimeError, match="odd"):
        async with app.run_test():
            pass

    assert isinstance(app.bug, RuntimeError)
    assert app.return_code == 1
    assert capfd.readouterr() == ("", "")
