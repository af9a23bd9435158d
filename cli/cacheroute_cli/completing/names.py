"""Live names by their source: from files that other commands have left, never from a Proxy."""

from collections.abc import Callable, Mapping, Sequence

from cacheroute_cli.completing.candidates import Candidate, Place
from cacheroute_cli.completing.seen import recall
from cacheroute_cli.config.load import Loaded, load
from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Fault

FILES = "files"
_GIVEN = {"--context": "context", "--proxy-url": "proxy_url", "--config": "config_file"}


class Names:
    """Gives the names of a source."""

    def __init__(self, words: Mapping[str, Sequence[str]], commands: Mapping[str, object]) -> None:
        self._words = words
        self._commands = commands

    def of(self, source: str, place: Place) -> Sequence[Candidate]:
        """Return the names of a source; none for one that nobody knows."""
        if source in self._words:
            return _words(self._words[source])
        if source == "commands":
            return _words(list(self._commands))
        ask = _SOURCES.get(source)
        try:
            return ask(place) if ask else ()
        except (Fault, OSError):
            return ()


def _words(words: Sequence[str]) -> list[Candidate]:
    return [Candidate(word=word) for word in words]


def _loaded(place: Place) -> Loaded:
    given = place.given or {}
    typed = {field: given[name] for name, field in _GIVEN.items() if name in given}
    return load(Given(**typed))  # type: ignore[arg-type]  # all three are texts


def _instances(place: Place) -> list[Candidate]:
    held = _loaded(place).required()
    return _words(list(recall(held.values["proxy_url"].value).instances))


def _contexts(place: Place) -> list[Candidate]:
    contexts = _loaded(place).in_force.contexts
    return [
        Candidate(word=name, help=values["proxy_url"].value if "proxy_url" in values else "")
        for name, values in contexts.items()
    ]


def _by_hand(kind: str) -> Callable[[Place], list[Candidate]]:
    def names(place: Place) -> list[Candidate]:
        from cacheroute_cli.supervisor.state import State

        del place
        return _words([record.name for record in State().running(kind)])

    return names


def _processes(place: Place) -> list[Candidate]:
    # Read by their names only: the records themselves need a reader that is slow to import.
    from cacheroute_cli.supervisor.state import state_root

    wanted = (place.given or {}).get("--stack", "*")
    found = state_root().glob(f"stacks/{wanted}/procs/*.json")
    return _words(sorted({path.stem for path in found}))


def _stacks(place: Place) -> list[Candidate]:
    from cacheroute_cli.supervisor.state import state_root

    del place
    return _words(sorted(path.name for path in state_root().glob("stacks/*") if path.is_dir()))


def _shells(place: Place) -> list[Candidate]:
    del place
    return _words(["bash", "zsh", "fish"])


_SOURCES: Mapping[str, Callable[[Place], Sequence[Candidate]]] = {
    "instances": _instances,
    "contexts": _contexts,
    "proxy": _by_hand("proxy"),
    "instance": _by_hand("instance"),
    "agent": _by_hand("agent"),
    "processes": _processes,
    "stacks": _stacks,
    "shells": _shells,
}
