"""Every key of a file is known and of its kind, or there is a line that says so."""

from typing import Any

import pytest

from cacheroute_cli.config.from_tables import fill
from cacheroute_cli.config.layers import Layer


def filled(document: dict[str, Any]) -> Layer:
    layer = Layer()
    fill(layer, document, lambda key: "f:" + ".".join(key))
    return layer


def test_everything_that_is_published_is_taken() -> None:
    layer = filled(
        {
            "current_context": "lab",
            "contexts": {"lab": {"proxy_url": "h:1", "readonly": True, "token_file": "~/t"}},
            "tui": {"interval": 1.0, "theme": "auto", "columns": ["id"], "clipboard": "auto"},
            "alerts": {"skew_ratio": 1.5, "gpu": [75, 95], "backlog_ms": 5000},
            "keys": {"app.pause": "p"},
        }
    )

    assert layer.problems == []
    assert layer.values["tui.interval"].value == 1.0
    assert layer.values["alerts.gpu"].value == (75, 95)
    assert layer.values["keys.app.pause"].value == "p"
    assert layer.contexts["lab"]["proxy_url"].value == "http://h:1"
    assert layer.contexts["lab"]["readonly"].origin == "f:contexts.lab.readonly"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"curent_context": "x"}, "f:curent_context: curent_context is not known; did you mean "
            "current_context?"),
        ({"tui": {"intrval": 1}}, "f:tui.intrval: tui.intrval is not known; did you mean "
            "tui.interval?"),
        ({"tui": {"interval": 0}}, "f:tui.interval: tui.interval must be between 0.2 and 3600, "
            "not 0"),
        ({"tui": []}, "f:tui: tui must be a table of keys and values"),
        ({"contexts": []}, "f:contexts: contexts must hold contexts by name"),
        ({"contexts": {"a": "http://h:1"}}, "f:contexts.a: contexts.a must be a table such as "
            '{ proxy_url = "http://127.0.0.1:8002" }'),
        ({"contexts": {"a": {}}}, "f:contexts.a: contexts.a has no proxy_url"),
        ({"contexts": {"a": {"proxy_url": "h", "read_only": True}}},
            "f:contexts.a.read_only: contexts.a.read_only is not known; did you mean "
            "contexts.a.readonly?"),
        ({"mouse": True}, "f:mouse: mouse is not known; did you mean tui.mouse?"),
        ({"mosue": True}, "f:mosue: mosue is not known; did you mean tui.mouse?"),
        ({"tui": {"timeout": 1}}, "f:tui.timeout: tui.timeout is not known; did you mean "
            "timeout?"),
        ({"token_file": "f"}, "f:token_file: token_file is not known; did you mean "
            "contexts.NAME.token_file?"),
        ({"contexts": {"a": {"proxy_url": "ftp://h"}}}, "f:contexts.a.proxy_url: "
            "contexts.a.proxy_url must be a URL such as http://host:port, not 'ftp://h'"),
        ({"keys": {"a": 1}}, "f:keys.a: keys.a must be the name of a key"),
        ({"keys": 1}, "f:keys: keys must be a table of actions and keys"),
        ({"proxy_id": "p"}, "f:proxy_id: proxy_id is not known; did you mean proxy_url?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence_with_its_place(
    document: dict[str, Any], problem: str
) -> None:
    assert filled(document).problems == [problem]


def test_a_key_that_is_like_no_other_lists_those_there_are() -> None:
    [problem] = filled({"tui": {"zzz": 1}}).problems

    assert problem.endswith("tui.zzz is not known; there are interval, theme, columns, mouse, "
                            "clipboard")  # fmt: skip


def test_what_is_right_is_kept_beside_what_is_wrong() -> None:
    layer = filled({"timeout": 3, "nope": 1})

    assert layer.values["timeout"].value == 3
    assert len(layer.problems) == 1


def test_a_file_with_more_contexts_than_anyone_has_is_refused() -> None:
    many = {f"c{at}": {"proxy_url": "h:1"} for at in range(1001)}

    assert filled({"contexts": many}).problems == ["f:contexts: contexts holds more than 1000"]
