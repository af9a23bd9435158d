"""A small fleet of one's own: an agent, a Proxy and demo Instances on free ports.

Nothing of the caller's configuration reaches it, and everything it writes lies in one folder
that goes with it.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cacheroute.client.control import ControlClient
from cacheroute.client.faults import ControlFault
from cacheroute_cli.launch import Launch, ProxyOptions, launch_agent, launch_instance, launch_proxy
from cacheroute_cli.supervisor.identity import identify
from cacheroute_cli.supervisor.ready import wait_for_line, wait_until
from cacheroute_cli.supervisor.runner import Child, Program
from cacheroute_cli.supervisor.signals import Stopped
from cacheroute_cli.supervisor.stack import Stack
from cacheroute_cli.supervisor.state import Record, State

MODEL = "demo-8b"
READY_TIMEOUT_S = 30.0
OUR_VARIABLES = (
    "CACHEROUTE_", "PROXY_", "INSTANCE_", "SCHEDULER_", "PREPARE_", "READY_", "KDN_", "IWS_",
    "REDIS_", "CONFIG_PATH",
)  # fmt: skip
"""How the names begin that would bring the caller's configuration into a demo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """What is up."""

    service_url: str
    control_url: str
    proxy: Child
    instances: tuple[Child, ...]


@contextmanager
def demo_folder(state: State) -> Iterator[Path]:
    """Make a folder for this run, and sweep those of runs that were killed.

    It goes when all went well; after an error it stays for its logs until the next run.
    """
    with state.locked():
        for old in state.records("demo"):
            if not old.is_running():
                shutil.rmtree(state.log_path("demo", old.name).parent, ignore_errors=True)
        name = f"demo-{os.getpid()}"
        me = identify(os.getpid())
        assert me is not None, "this process runs"  # noqa: S101
        state.write(
            Record(
                name=name,
                kind="demo",
                pid=me.pid,
                start_ticks=me.start_ticks,
                boot_id=me.boot_id,
                argv=(),
                urls={},
                log=None,
                started_at_s=time.time(),
            )
        )
    folder = state.log_path("demo", name).parent
    try:
        yield folder
    except Stopped:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


class DemoFleet:
    """Brings fleets up and down, one after the other, below one Stack."""

    def __init__(self, stack: Stack, folder: Path, *, instances: int, speed: float) -> None:
        self._stack = stack
        self._folder = folder
        self._instances = instances
        self._speed = speed
        self._agent_url: str | None = None

    def up(self, strategy: str) -> Fleet:
        """Start a Proxy with new Instances, and return when all are in its pool."""
        options = ProxyOptions(
            port=0,
            cp_port=0,
            strategy=strategy,
            proxy_id="demo",
            settings=(f"state_dir={self._folder / f'state-{strategy}'}",),
        )
        launch = launch_proxy(options, {})
        proxy = self._start(launch, "proxy")
        # The agent comes up while the Proxy does.
        if self._agent_url is None:
            self._agent_url = self._start_agent()
        urls = wait_for_line(proxy, launch.says_ready, timeout_s=READY_TIMEOUT_S)
        instances = tuple(
            self._stack.start(
                *(self._program(self._instance(n, urls["control"]), f"demo-{n}") for n in self._all)
            )
        )
        self._wait_for_pool(urls["control"], (proxy, *instances))
        return Fleet(
            service_url=urls["service"],
            control_url=urls["control"],
            proxy=proxy,
            instances=instances,
        )

    def down(self, fleet: Fleet) -> None:
        """End a fleet; the agent stays for the next one."""
        self._stack.end(fleet.instances)
        self._stack.end([fleet.proxy])

    @property
    def _all(self) -> range:
        return range(1, self._instances + 1)

    def _instance(self, number: int, control_url: str) -> Launch:
        return launch_instance(
            port=0,
            instance_id=f"demo-{number}",
            proxy_url=control_url,
            model=MODEL,
            speed=self._speed,
            agent_url=self._agent_url,
        )

    def _start_agent(self) -> str:
        launch = launch_agent("127.0.0.1:0")
        agent = self._start(launch, "agent")
        return wait_for_line(agent, launch.says_ready, timeout_s=READY_TIMEOUT_S)["url"]

    def _start(self, launch: Launch, name: str) -> Child:
        [child] = self._stack.start(self._program(launch, name))
        return child

    def _program(self, launch: Launch, name: str) -> Program:
        return Program(
            name=name,
            argv=launch.argv,
            log=self._folder / f"{name}.log",
            without=OUR_VARIABLES,
        )

    def _wait_for_pool(self, control_url: str, children: tuple[Child, ...]) -> None:
        with ControlClient(control_url) as client:

            def all_in() -> bool | None:
                try:
                    alive = client.instances()
                except ControlFault:
                    return None
                return True if len(alive) == self._instances else None

            wait_until(
                all_in,
                what=f"not all {self._instances} Instances were in the pool",
                children=children,
                timeout_s=READY_TIMEOUT_S,
            )
