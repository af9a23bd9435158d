import pytest
from pydantic import ValidationError

from cacheroute.settings.options import sections
from cacheroute.settings.problems import located, scrub
from cacheroute.settings.tree import Settings
from cacheroute.settings.values import InnerPath


def found(tree: object) -> list[tuple[str, str]]:
    def fields_of(where: InnerPath) -> tuple[str, ...]:
        return sections().get(tuple(map(str, where)), ())

    with pytest.raises(ValidationError) as refused:
        Settings.model_validate(tree)
    places = [located(error, fields_of) for error in refused.value.errors()]
    return [(".".join(map(str, where)), text) for where, text in places]


@pytest.mark.parametrize(
    ("tree", "where", "text"),
    [
        ({"proxy": {"port": "x"}}, "proxy.port", "must be a whole number, not 'x'"),
        ({"proxy": {"port": 1.5}}, "proxy.port", "must be a whole number, not 1.5"),
        ({"proxy": {"port": 99999}}, "proxy.port", "must be 65535 or less, not 99999"),
        ({"proxy": {"port": "9" * 6000}}, "proxy.port", "must be a smaller number"),
        ({"proxy": {"id": 7}}, "proxy.id", "must be text, not 7; write it in quotes"),
        (
            {"proxy": {"shutdown_grace_s": -1}},
            "proxy.shutdown_grace_s",
            "must be 0 or more, not -1",
        ),
        (
            {"proxy": {"shutdown_grace_s": float("nan")}},
            "proxy.shutdown_grace_s",
            "must be a finite number, not nan",
        ),
        (
            {"proxy": {"forward_authorization": "maybe"}},
            "proxy.forward_authorization",
            "must be true or false, not 'maybe'",
        ),
        (
            {"log_level": "loud"},
            "log_level",
            "must be 'debug', 'info', 'warning' or 'error', not 'loud'",
        ),
        ({"backends": {"a": 1}}, "backends", "must be a list, not keys and values"),
        ({"backends": ["a"]}, "backends.0", "must hold keys and values, not 'a'"),
        ({"backends": [{"name": "a"}]}, "backends.0.url", "is required"),
        ({"proxy": [1]}, "proxy", "must hold keys and values, not a list"),
        ({"timeouts": True}, "timeouts", "must hold keys and values, not true"),
        ({"strategy": {"name": None}}, "strategy.name", "needs a value"),
        ({"control": {"token": 5}}, "control.token", "must be text; write it in quotes"),
        (
            {"pool": {"ttl_s": -1.0}},
            "pool.ttl_s",
            "must be a positive, finite number, not -1.0",
        ),
        (
            {"strategy": {"weights": {"qps_1m": float("inf")}}},
            "strategy.weights.qps_1m",
            "must be finite and not negative, not inf",
        ),
        ({"proxy": {"cors_origins": ["x"]}}, "proxy.cors_origins.0", "must be * or an origin such"),
    ],
)
def test_what_pydantic_found_is_a_sentence_about_a_key(tree: object, where: str, text: str) -> None:
    (place, sentence), *rest = found(tree)
    assert rest == []
    assert place == where
    assert sentence.startswith(text)


def test_a_long_value_is_cut() -> None:
    ((_, sentence),) = found({"proxy": {"max_capacity": "x" * 500}})
    assert len(sentence) < 120


def test_hidden_texts_are_replaced_longest_first() -> None:
    hidden = {"secret": "env:A", "secret-long": "env:B", "abc": "env:C"}
    assert scrub("has secret-long and secret and abc", hidden) == "has env:B and env:A and abc"
