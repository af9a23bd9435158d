"""What a request may ask."""

import pytest

from cacheroute.core.engine.run import NEVER_TOKENS, Run, Sequence


@pytest.mark.parametrize(("prompt_tokens", "output_tokens"), [(0, 1), (-3, 1), (1, -1)])
def test_a_request_that_asks_for_less_than_nothing_is_refused(
    prompt_tokens: int, output_tokens: int
) -> None:
    with pytest.raises(ValueError, match="at least one prompt token"):
        Sequence(id="a", prompt_tokens=prompt_tokens, output_tokens=output_tokens)


def test_the_edge_is_the_end_of_the_next_block_and_there_is_none_after_the_last() -> None:
    run = Run(Sequence(id="a", prompt_tokens=40, output_tokens=1, keys=(7, 8)), 0.0)
    run.set_edge(16)
    assert run.edge_tokens == 16
    run.published_blocks = 1
    run.set_edge(16)
    assert run.edge_tokens == 32
    run.published_blocks = 2
    run.set_edge(16)
    assert run.edge_tokens == NEVER_TOKENS


def test_a_run_starts_with_nothing_known() -> None:
    run = Run(Sequence(id="a", prompt_tokens=40, output_tokens=1), 3.5)
    assert run.submitted_at_s == 3.5
    assert (run.scheduled_at_s, run.first_token_at_s, run.finished_at_s) == (None, None, None)
    assert run.prompt_left_tokens == 40


def test_a_request_was_asked_when_it_was_submitted_unless_it_was_held_up_before() -> None:
    plain = Sequence(id="a", prompt_tokens=40, output_tokens=1)
    held_up = Sequence(id="b", prompt_tokens=40, output_tokens=1, asked_at_s=1.5)
    assert (Run(plain, 3.5).asked_at_s, Run(held_up, 3.5).asked_at_s) == (3.5, 1.5)
