import pytest

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.pressure import FIGURES, Pressure, Queues
from cacheroute.wire.debug import InstanceLoadRow

ONE_TO_NINE = Pressure(
    prepare_queue_depth=1,
    ready_queue_depth=2,
    active_prepare=3,
    active_ready=4,
    pending_prefill_count=5,
    active_decode_count=6,
    next_slot_ready_in_ms=7.5,
    prefill_free_in_ms=8.5,
    predicted_total_backlog_ms=9.5,
)


def test_the_figures_have_their_published_names_and_order() -> None:
    assert list(ONE_TO_NINE.as_mapping()) == list(FIGURES)
    assert list(ONE_TO_NINE.as_mapping().values()) == [1, 2, 3, 4, 5, 6, 7.5, 8.5, 9.5]
    assert set(FIGURES) <= InstanceLoadRow.model_fields.keys()


def test_a_pressure_does_not_change() -> None:
    with pytest.raises(AttributeError):
        ONE_TO_NINE.active_ready = 0  # type: ignore[misc]


def test_a_board_is_what_queues_are_expected_to_be() -> None:
    queues: Queues = Board(QueueRules())
    assert set(queues.pressure(0.0).as_mapping().values()) == {0}
