"""Words that no column is named after."""

from typing import get_args

from cacheroute.console.glossary import GLOSSARY
from cacheroute.console.rows.states import Shown


def test_every_word_is_lower_case_and_every_meaning_a_sentence() -> None:
    for term, meaning in GLOSSARY.items():
        assert term == term.lower()
        assert meaning.endswith(".")


def test_every_state_can_be_looked_up() -> None:
    assert set(get_args(Shown)) <= set(GLOSSARY)
