"""Which source wins, and which context is in force."""

from cacheroute_cli.config.layers import InForce, Layer, Value, in_force, known_tables


def a_layer(name: str, **values: object) -> Layer:
    given = {key.replace("__", "."): Value(value=v, origin=name) for key, v in values.items()}
    return Layer(values=given, is_of_this_folder=name == "stack")


def the_file(**values: object) -> Layer:
    layer = a_layer("file", **values)
    for name, port in (("local", 1), ("lab", 2)):
        url = Value(value=f"http://{name}:{port}", origin="file")
        layer.contexts[name] = {"proxy_url": url}
    layer.contexts["lab"]["readonly"] = Value(value=True, origin="file")
    layer.contexts["lab"]["color"] = Value(value="red", origin="file")
    return layer


def told(held: InForce, key: str) -> tuple[object, str]:
    return held.values[key].value, held.values[key].origin


def test_the_first_layer_that_says_something_wins() -> None:
    held = in_force([a_layer("option", timeout=1.0), a_layer("variable", timeout=2.0, ascii=True)])

    assert told(held, "timeout") == (1.0, "option")
    assert told(held, "ascii") == (True, "variable")
    assert told(held, "color") == ("auto", "default")


def test_a_context_gives_what_it_has() -> None:
    held = in_force([the_file(current_context="lab")])

    assert held.context == "lab"
    assert told(held, "proxy_url") == ("http://lab:2", "file")
    assert told(held, "readonly") == (True, "file")
    assert held.of_context["color"].value == "red"


def test_the_colour_of_a_label_is_not_when_to_colour() -> None:
    assert told(in_force([the_file(current_context="lab")]), "color") == ("auto", "default")


def test_a_context_that_is_typed_outranks_an_address_in_a_variable() -> None:
    layers = [
        a_layer("option", current_context="lab"),
        a_layer("variable", proxy_url="http://v:9"),
        the_file(current_context="local"),
    ]

    assert told(in_force(layers), "proxy_url") == ("http://lab:2", "file")


def test_beside_an_address_the_context_keeps_its_other_values() -> None:
    typed = a_layer("option", current_context="lab", proxy_url="http://typed:1")

    held = in_force([typed, the_file()])

    assert told(held, "proxy_url") == ("http://typed:1", "option")
    assert told(held, "readonly") == (True, "file")
    assert held.context == "lab"


def test_an_address_that_outranks_a_context_leaves_none_in_force() -> None:
    held = in_force(
        [a_layer("option", proxy_url="http://typed:1"), the_file(current_context="lab")]
    )

    assert held.context is None
    assert held.of_context == {}
    assert told(held, "readonly") == (False, "default")


def test_a_context_of_two_files_is_one_of_both() -> None:
    system = Layer()
    system.contexts["lab"] = {
        "proxy_url": Value(value="http://old:1", origin="system"),
        "label": Value(value="LAB", origin="system"),
    }

    held = in_force([the_file(current_context="lab"), system])

    assert told(held, "proxy_url") == ("http://lab:2", "file")
    assert held.of_context["label"].value == "LAB"


def test_the_file_of_a_folder_may_forbid_changes_and_never_allow_them() -> None:
    user = the_file(current_context="lab")
    allowing, forbidding = (
        a_layer("stack", readonly=False),
        a_layer("stack", readonly=True),
    )

    assert told(in_force([allowing, user]), "readonly") == (True, "file")
    user.values["current_context"] = Value(value="local", origin="file")
    assert told(in_force([forbidding, user]), "readonly") == (True, "stack")


def test_off_by_an_option_outranks_on_in_a_file() -> None:
    held = in_force([a_layer("variable", readonly=False), the_file(current_context="lab")])

    assert told(held, "readonly") == (False, "variable")


def test_it_is_known_when_the_address_is_from_this_folder() -> None:
    stack = a_layer("stack", proxy_url="http://x:1")

    assert in_force([stack]).proxy_is_from_here
    assert not in_force([a_layer("option", proxy_url="http://x:1"), stack]).proxy_is_from_here


def test_keys_are_bound_one_by_one() -> None:
    upper, lower = a_layer("user", keys__a="x"), a_layer("system", keys__a="y", keys__b="z")

    held = in_force([upper, lower])

    assert told(held, "keys.a") == ("x", "user")
    assert told(held, "keys.b") == ("z", "system")


def test_the_top_of_a_file_holds_no_key_that_only_a_variable_gives() -> None:
    assert {"contexts", "keys", "tui", "alerts", "proxy_url"} <= set(known_tables())
    assert "proxy_id" not in known_tables()
