"""Alerts as a list."""

from typing import get_args

from cacheroute.console.alerts import Alert, AlertKind
from cacheroute.console.rows.alerts import ALERTS

ALERT = Alert(
    kind="gpu", severity="bad", instance_id="i-1", message="i-1 GPU use 97%", value=97.0,
    threshold=95.0, unit="%", since=None,
)  # fmt: skip


def test_an_alert_is_told_by_word_sign_and_colour() -> None:
    texts = {column.key: column.text(ALERT) for column in ALERTS.columns}
    sign = ALERTS.column("sign")

    assert (texts["sign"], texts["kind"], texts["value"], texts["threshold"]) == (
        "✕", "gpu", "97%", "95%",
    )  # fmt: skip
    assert texts["since"] == "—"
    assert sign.tone is not None
    assert sign.tone(ALERT) == "bad"


def test_every_kind_is_named_where_the_column_is_explained() -> None:
    assert all(kind in ALERTS.column("kind").doc for kind in get_args(AlertKind))


def test_alerts_are_found_by_kind_instance_and_words() -> None:
    assert ALERTS.searched(ALERT) == "gpu i-1 i-1 GPU use 97%"
    assert ALERTS.name_of(ALERT) == "i-1"
