"""From the text of a stack file to the stack it describes, or to everything that is wrong with it.

One function for each part of the file; the tables name the options that are passed on as they
are, since their values are for the programs to judge.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from cacheroute.formats.address import parse_base_url
from cacheroute_cli.stackfile.document import BadStackFile, Entry, read_document
from cacheroute_cli.stackfile.section import Section
from cacheroute_cli.stackfile.tree import (
    AUTO,
    AgentEntry,
    CountedInstances,
    DemoInstanceEntry,
    Extra,
    InstanceEntry,
    KdnEntry,
    ProxyEntry,
    RealInstanceEntry,
    RedisEntry,
    Rules,
    SchedulerEntry,
    StackFile,
)

DEFAULT_NAME = "default"
MAX_INSTANCES = 256
LONGEST_S = 86_400.0

PROXY_OPTIONS = {
    "strategy": "strategy",
    "injection": "injection_strategy",
    "injection_strategy": "injection_strategy",
    "ready_release_policy": "ready_release_policy",
    "scheduler_url": "scheduler_url",
    "id": "proxy_id",
    "proxy_id": "proxy_id",
    "max_capacity": "max_capacity",
}
"""Keys of `proxy`, and the published option each is."""
DEMO_OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "model", "profile", "speed", "block_size", "kv_tokens", "max_model_len",
        "max_num_queued_reqs", "weight", "heartbeat_s", "tags",
    )
}  # fmt: skip
ATTACH_OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in ("model", "weight", "tags", "api_key_env", "agent_url")
}
KDN_OPTIONS = {
    "id": "--kdn-id",
    "db": "--db",
    "bandwidth_mbps": "--bandwidth-mbps",
    "delay_ms": "--delay-ms",
    "link_efficiency": "--link-efficiency",
    "speed": "--speed",
    "max_texts": "--max-texts",
    "max_kv_mb": "--max-kv-mb",
}
SCHEDULER_OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in ("top_k", "model", "ttl_s", "heartbeat_s", "refresh_s")
}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RESTART_MODES = {"no": "never", "never": "never", "on-failure": "on-failure", "always": "always"}


def read_stack_file(path: Path) -> StackFile:
    """Read a stack file; raises BadStackFile with a line for each mistake."""
    root, problems = read_document(path)
    if root is None:
        note = f"{path} is empty: the defaults are used"
        return StackFile(name=folder_name(path), file=path, notes=(note,))
    stack = _Reader(path, problems).stack(root)
    if problems:
        raise BadStackFile("\n".join(problems), file=str(path), problems=list(problems))
    return stack


def folder_name(path: Path) -> str:
    """Return the name of a stack that does not say its own: that of its file's folder."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.absolute().parent.name).strip("-._")[:64]
    return name or DEFAULT_NAME


class _Reader:
    def __init__(self, path: Path, problems: list[str]) -> None:
        self._path = path
        self._problems = problems

    def stack(self, root: Entry) -> StackFile:
        top = Section(root, file=str(self._path), problems=self._problems)
        known: dict[str, Any] = {
            "proxy": self._proxy(top),
            "instances": self._instances(top),
            "agents": self._agents(top),
            "kdn": self._kdn(top),
            "redis": self._redis(top),
            "scheduler": self._scheduler(top),
        }
        if (defaults := top.section("defaults")) is not None:
            known["defaults"] = self._rules(defaults)
            defaults.finish()
        name = self._name(top, "stack") or folder_name(self._path)
        top.entry("console")  # the console's own settings
        top.finish()
        given = {key: value for key, value in known.items() if value is not None}
        return StackFile(name=name, file=self._path, **given)

    def _proxy(self, top: Section) -> ProxyEntry | None:
        section = top.section("proxy")
        if section is None:
            return None
        options = {
            option: value
            for key, option in PROXY_OPTIONS.items()
            if (value := section.text(key)) is not None
        }
        if (links := section.entry("kdn_links")) is not None:
            options["kdn_links_json"] = (
                json.dumps(_plain(links)) if isinstance(links.value, dict) else str(links.value)
            )
        entry = ProxyEntry(
            options=options,
            config=section.path_of("config"),
            settings=tuple(f"{key}={value}" for key, value in section.pairs("set").items()),
            static=section.texts("static"),
            extra=self._extra(section),
            **_given(
                host=section.text("host"),
                port=section.port("port"),
                cp_host=section.text("cp_host"),
                cp_port=section.port("cp_port"),
            ),
        )
        section.finish()
        return entry

    def _instances(self, top: Section) -> CountedInstances | tuple[InstanceEntry, ...] | None:
        entry = top.entry("instances")
        if entry is None:
            return None
        if isinstance(entry.value, list):
            return self._listed(top, entry)
        if isinstance(entry.value, int):
            count = top.whole("instances", 0, MAX_INSTANCES)
            return None if count is None else CountedInstances(count=count)
        section = top.below(entry)
        count = section.whole("count", 0, MAX_INSTANCES)
        first_port = section.first_port("port")
        counted = CountedInstances(
            pattern=self._demo(section, name="instance", port=9001, id_=None),
            **_given(count=count, first_port=first_port),
        )
        section.finish()
        return counted

    def _listed(self, top: Section, entry: Entry) -> tuple[InstanceEntry, ...]:
        found: list[InstanceEntry] = []
        seen: dict[str, int] = {}
        if len(entry.value) > MAX_INSTANCES:
            top.complain(entry, f"holds {len(entry.value)} Instances; {MAX_INSTANCES} is the most")
        for number, inner in enumerate(entry.value, start=1):
            section = top.below(inner)
            name = self._name(section, "name") or f"instance-{number}"
            if name in seen:
                top.complain(inner, f"is called {name}, as the one on line {seen[name]} is")
            seen[name] = inner.line
            if section.has("endpoint") or section.has("command"):
                found.append(self._real(section, name, inner))
            else:
                port = section.port("port") or AUTO
                found.append(self._demo(section, name=name, port=port, id_=section.text("id")))
            section.finish()
        return tuple(found)

    def _demo(
        self, section: Section, *, name: str, port: int | str, id_: str | None
    ) -> DemoInstanceEntry:
        return DemoInstanceEntry(
            name=name,
            port=port,
            id=id_,
            options=self._options(section, DEMO_OPTIONS),
            extra=self._extra(section),
            **_given(host=section.text("host")),
        )

    def _real(self, section: Section, name: str, entry: Entry) -> RealInstanceEntry:
        endpoint = section.text("endpoint")
        if endpoint is None:
            section.complain(
                entry, "has a command and no endpoint; say where it listens, as endpoint: URL"
            )
        elif (why := _why_no_endpoint(endpoint)) is not None:
            section.complain(entry, f"has the endpoint {endpoint!r}, which {why}")
        return RealInstanceEntry(
            name=name,
            endpoint=(endpoint or "").rstrip("/"),
            command=section.texts("command"),
            cwd=section.path_of("cwd"),
            id=section.text("id"),
            options=self._options(section, ATTACH_OPTIONS),
            extra=self._extra(section),
        )

    def _agents(self, top: Section) -> tuple[AgentEntry, ...] | None:
        entry = top.entry("agents")
        if entry is None:
            return None
        if entry.value is False:
            return ()
        listed = entry.value if isinstance(entry.value, list) else [entry]
        several = isinstance(entry.value, list)
        found = []
        for number, inner in enumerate(listed, start=1):
            section = top.below(inner)
            section.choice("per", ("host",))
            found.append(
                AgentEntry(
                    name=self._name(section, "name") or (f"agent-{number}" if several else "agent"),
                    extra=self._extra(section),
                    **_given(
                        host=section.text("host"),
                        port=section.port("port"),
                        reuse=section.flag("reuse"),
                    ),
                )
            )
            section.finish()
        return tuple(found)

    def _kdn(self, top: Section) -> KdnEntry | None:
        section = top.section("kdn")
        if section is None:
            return KdnEntry() if top.has("kdn") else None
        options = self._options(section, KDN_OPTIONS)
        if (database := section.path_of("db")) is not None:
            options["--db"] = str(database)
        entry = KdnEntry(
            options=options,
            extra=self._extra(section),
            **_given(host=section.text("host"), port=section.port("port")),
        )
        section.finish()
        return entry

    def _redis(self, top: Section) -> RedisEntry | None:
        section = top.section("redis")
        if section is None:
            return RedisEntry() if top.has("redis") else None
        entry = RedisEntry(
            extra=self._extra(section),
            **_given(program=section.text("program"), port=section.port("port")),
        )
        section.finish()
        return entry

    def _scheduler(self, top: Section) -> SchedulerEntry | None:
        section = top.section("scheduler")
        if section is None:
            return SchedulerEntry() if top.has("scheduler") else None
        entry = SchedulerEntry(
            options=self._options(section, SCHEDULER_OPTIONS),
            extra=self._extra(section),
            **_given(
                host=section.text("host"),
                port=section.port("port"),
                cp_port=section.port("cp_port"),
            ),
        )
        section.finish()
        return entry

    def _extra(self, section: Section) -> Extra:
        return Extra(
            env=section.pairs("env"), args=section.texts("args"), rules=self._rules(section)
        )

    def _rules(self, section: Section) -> Rules:
        mode = section.choice("restart", tuple(_RESTART_MODES))
        stop, ready = section.section("stop"), section.section("ready")
        rules = Rules(
            restart=cast("Any", _RESTART_MODES[mode]) if mode is not None else None,
            backoff_s=section.first_and_most("backoff_s", LONGEST_S),
            max_restarts=section.per_window("max_restarts"),
            on_failure=cast("Any", section.choice("on_failure", ("keep", "stop"))),
            stop_signal=stop.signal("signal") if stop else None,
            grace_s=stop.number("grace_s", 0, LONGEST_S) if stop else None,
            ready_http=ready.text("http") if ready else None,
            ready_timeout_s=ready.number("timeout_s", 0.1, LONGEST_S) if ready else None,
        )
        for inner in (stop, ready):
            if inner is not None:
                inner.finish()
        return rules

    def _options(self, section: Section, table: Mapping[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, option in table.items():
            entry = section.entry(key)
            if entry is not None and isinstance(entry.value, list):
                found[option] = ",".join(section.texts(key))
            elif (value := section.text(key)) is not None:
                found[option] = value
        return found

    def _name(self, section: Section, key: str) -> str | None:
        name = section.text(key)
        entry = section.entry(key)
        if name is None or entry is None or _NAME.fullmatch(name):
            return name
        section.complain(
            entry, f"is {name!r}; a name has up to 64 letters, digits, dots, dashes or underscores"
        )
        return None


def _why_no_endpoint(url: str) -> str | None:
    if not url.startswith("http://"):
        return "is no http:// URL"
    try:
        parse_base_url(url)
    except ValueError as problem:
        return f"cannot be: {problem}"
    return None


def _given(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _plain(entry: Entry) -> object:
    match entry.value:
        case dict():
            return {key: _plain(inner) for key, inner in entry.value.items()}
        case list():
            return [_plain(inner) for inner in entry.value]
        case value:
            return value
