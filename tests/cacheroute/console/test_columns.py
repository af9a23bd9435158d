"""One registry for everything that is shown of anything."""

from dataclasses import replace

import pytest

from cacheroute.console.columns import Column, Kind, UnknownColumn
from cacheroute.console.kinds import KINDS
from cacheroute.console.rows.instances import INSTANCES
from tests.cacheroute.console.builders import a_row

EVERY = [(kind, column) for kind in KINDS.values() for column in kind.columns]


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_no_name_of_a_kind_means_two_columns(kind: Kind[object]) -> None:
    names = [name for column in kind.columns for name in column.names]

    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(("kind", "column"), EVERY, ids=lambda it: getattr(it, "key", ""))
def test_every_column_explains_itself_in_sentences(
    kind: Kind[object], column: Column[object]
) -> None:
    assert column.doc.endswith(".")
    assert column.unknown.endswith(".")


def test_a_column_is_found_by_key_header_and_alias_in_any_case() -> None:
    gpu = INSTANCES.column("gpu_util")

    assert INSTANCES.column("GPU") is gpu
    assert INSTANCES.column(" gpu ") is gpu
    assert INSTANCES.column("tag").key == "tags"


def test_a_name_that_no_column_has_is_answered_with_the_nearest_and_all() -> None:
    with pytest.raises(UnknownColumn, match="did you mean 'score'") as caught:
        INSTANCES.column("scroe")

    assert "inflight" in caught.value.known


def test_columns_are_chosen_in_the_order_they_are_named() -> None:
    assert [column.key for column in INSTANCES.chosen("age,id,,gpu")] == [
        "age_s",
        "id",
        "gpu_util",
    ]


def test_a_reader_reads_the_attribute_named_as_the_key() -> None:
    assert INSTANCES.column("inflight").reader()(a_row(load={"inflight": 3})) == 3


def test_a_schema_has_the_kind_and_its_version() -> None:
    assert INSTANCES.schema == "cacheroute.instances/1"
    assert INSTANCES.row_schema == "cacheroute.instances.row/1"


def test_a_screen_tells_what_is_not_known_from_what_is_not_there() -> None:
    row = a_row("a")
    unknown: Column[object] = Column(key="k", header="K", text=lambda _: "—", doc="A value.")
    absent = replace(unknown, lacks=True)

    assert (unknown.on_screen(row), absent.on_screen(row)) == ("?", "—")
    assert INSTANCES.column("id").on_screen(row) == "a"
