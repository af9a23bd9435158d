"""What was typed behind the colon, judged before it runs: which command, and whether it may.

A console that only looks runs commands of a short list that only look, and nothing else; what
it cannot place it refuses. The client's own guard stands behind it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LOOKING: Mapping[str, frozenset[str] | None] = {
    "status": None, "instances": None, "show": None, "loads": None, "resources": None,
    "queues": None, "topology": None, "scheduler": None, "alerts": None, "scores": None,
    "decisions": None, "traces": None, "raw": None, "export": None, "explain": None, "ps": None,
    "logs": None, "doctor": None, "version": None, "help": None,
    "context": frozenset({"list", "show"}),
    "config": frozenset({"show", "path", "validate", "schema", "server"}),
    "proxy": frozenset({"status"}),
    "agent": frozenset({"status"}),
}  # fmt: skip
"""Commands that change nothing; of a group, those of its commands that change nothing."""

WITHOUT_PROXY = frozenset(
    ("explain", "version", "help", "config", "context", "ps", "logs", "proxy", "agent", "doctor",
     "completion", "up", "down", "start", "stop", "restart", "scale", "prune", "instance")
)  # fmt: skip
"""Commands that ask no Proxy, or not ours."""

_OWN_TERMINAL: Mapping[tuple[str, ...], str] = {
    ("repl",): "this is the prompt already",
    ("tui",): "this is the console already",
    ("web",): "it would hold this line for as long as it serves",
    ("demo",): "it needs a terminal of its own",
    ("record",): "it needs a terminal of its own",
    ("watch",): "the console watches already; :watch -i 0.5 looks more often",
    ("config", "edit"): "an editor needs a terminal of its own",
}
_FOREGROUND = frozenset(("--foreground", "-F"))
_ELSEWHERE = frozenset(
    ("--proxy-url", "--scheduler-url", "--config", "--context", "-c", "--token", "--file", "-f",
     "--stack")
)  # fmt: skip
"""Options that read files of the host or send its token elsewhere: not for a browser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line that may run."""

    words: tuple[str, ...]
    path: tuple[str, ...]
    """The command, with that of its group."""
    at: int
    """Where the options of the command may begin."""
    takes_yes: bool
    """Whether it asks before it changes something."""

    @property
    def ids(self) -> tuple[str, ...]:
        """What it is about, as far as that can be told from its words."""
        return tuple(word for word in self.words[self.at :] if not word.startswith("-"))

    def confirmed(self) -> tuple[str, ...]:
        """Return the words with the yes that was given."""
        return (*self.words[: self.at], "--yes", *self.words[self.at :])


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why it does not run."""

    why: str


def judge(
    words: Sequence[str], tree: Mapping[str, Any], *, may_write: bool, is_web: bool, has_proxy: bool
) -> Command | Refusal:
    """Decide about a command line; `tree` is that of `completing.tree`."""
    found = _placed(words, tree)
    if found is None:
        # The parser says best what is wrong; but only where it can do no harm.
        return _as_it_is(words) if may_write else Refusal(why=f"there is no command {words[0]!r}")
    path, at, node = found
    name = " ".join(path)
    for own, why in _OWN_TERMINAL.items():
        if path[: len(own)] == own:
            return Refusal(why=f":{name} does not run here: {why}")
    typed = {word.partition("=")[0] for word in words}
    if not may_write:
        if "--write" in typed or not _only_looks(path, words[at:], node):
            return Refusal(
                why=f"read-only: :{name} may change something; start the console with --write"
            )
        if path == ("completion",) and "--install" in typed:
            return Refusal(why="read-only: --install changes files")
    if is_web and (elsewhere := _elsewhere(path, typed, words[at:], node)):
        return Refusal(why=f"{', '.join(sorted(elsewhere))} is not for a browser")
    if typed & _FOREGROUND and "start" in path:
        return Refusal(why=f":{name} in the foreground needs a terminal of its own")
    if path == ("up",) and not typed & {"-d", "--detach"}:
        return Refusal(why=":up would end with this line; add -d")
    if not has_proxy and path[0] not in WITHOUT_PROXY:
        return Refusal(why=f":{name} asks a Proxy, and this console shows none that runs")
    names = {each for option in node["options"] for each in option["names"]}
    return Command(
        words=tuple(words),
        path=path,
        at=at,
        takes_yes="--yes" in names and not typed & {"--yes", "-y"},
    )


def _as_it_is(words: Sequence[str]) -> Command:
    return Command(words=tuple(words), path=(words[0],), at=1, takes_yes=False)


def _elsewhere(
    path: tuple[str, ...], typed: set[str], rest: Sequence[str], node: Mapping[str, Any]
) -> set[str]:
    """Return what would read a file of this host, or ask another one."""
    of_files = {
        name for one in node["options"] if one.get("source") == "files" for name in one["names"]
    }
    found = typed & (_ELSEWHERE | of_files)
    # Of a list, `-f` is the filter.
    if "--filter" in {name for one in node["options"] for name in one["names"]}:
        found -= {"-f"}
    if any(one["source"] == "files" for one in node["arguments"]) and rest:
        found.add(" ".join(path))
    clusters = {word for word in rest if word[:1] == "-" and word[1:2] != "-" and len(word) > 2}
    return found | clusters


def _placed(
    words: Sequence[str], tree: Mapping[str, Any]
) -> tuple[tuple[str, ...], int, Mapping[str, Any]] | None:
    """Find the command; None where that is not certain."""
    node: Mapping[str, Any] = tree
    path: list[str] = []
    options = {name: one for one in node["options"] for name in one["names"]}
    at = 0
    while node.get("commands"):
        if at >= len(words):
            return (tuple(path), at, node) if path else None
        word = words[at]
        if word.startswith("-"):
            name, equals, _ = word.partition("=")
            option = options.get(name)
            # Letters that share a dash are read by the parser in ways that are not tried here.
            if option is None or (not name.startswith("--") and len(word) > 2):
                return (tuple(path), at, node) if path and word in ("-h", "--help") else None
            at += 2 if option["takes"] and not equals else 1
            continue
        if word not in node["commands"]:
            return (tuple(path), at, node) if path else None
        node = node["commands"][word]
        path.append(word)
        options = {name: one for one in node["options"] for name in one["names"]}
        at += 1
    return tuple(path), at, node


def _only_looks(path: tuple[str, ...], rest: Sequence[str], node: Mapping[str, Any]) -> bool:
    if path == ("strategy",):
        takes = {name for one in node["options"] if one["takes"] for name in one["names"]}
        return not _positional(rest, takes)
    if path == ("completion",):
        return True
    allowed = LOOKING.get(path[0], frozenset())
    if path[0] not in LOOKING:
        return False
    if allowed is None:
        return True
    # A group alone shows its help.
    return len(path) == 1 or path[1] in allowed


def _positional(words: Sequence[str], takes: set[str]) -> list[str]:
    found: list[str] = []
    waits = False
    for word in words:
        if waits:
            waits = False
        elif word in takes:
            waits = True
        elif not word.startswith("-"):
            found.append(word)
        elif len(word) > 2 and not word.startswith("--"):
            # Not certain: it counts as a change.
            found.append(word)
    return found
