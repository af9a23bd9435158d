"""What a Scheduler wants, as a value."""

import pytest

from cacheroute.core.task import KVCACHE, Task


@pytest.mark.parametrize(
    ("wants", "ids", "has"),
    [(True, ("k",), True), (True, (), False), (False, ("k",), False)],
)
def test_there_is_knowledge_when_it_is_wanted_and_named(
    wants: bool, ids: tuple[str, ...], has: bool
) -> None:
    task = Task(
        request_id=1, endpoint="completions", model="m", user_prompt="x", prompt_tokens=1,
        stream=False, wants_knowledge=wants, knowledge_ids=ids,
    )  # fmt: skip
    assert task.has_knowledge is has
    assert task.mode == KVCACHE
