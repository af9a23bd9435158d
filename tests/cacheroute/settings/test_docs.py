from dataclasses import dataclass

from cacheroute.core.rules import PoolRules
from cacheroute.settings.docs import field_docs
from cacheroute.settings.sections import PoolSettings


@dataclass
class Undocumented:
    plain: int = 0


def test_the_text_under_a_field_is_its_documentation() -> None:
    assert field_docs(PoolRules)["max_instances"] == (
        "Most registered Instances; one more is refused."
    )


def test_inherited_fields_keep_their_text() -> None:
    assert field_docs(PoolSettings)["ttl_s"] == field_docs(PoolRules)["ttl_s"]
    assert "probe" in field_docs(PoolSettings)["health_timeout_s"]


def test_a_class_from_elsewhere_has_no_texts() -> None:
    assert field_docs(Undocumented) == {}
