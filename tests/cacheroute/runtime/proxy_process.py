"""A Proxy as a process of its own, as an operator would start it."""

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

_READY = re.compile(r"service http://([^ ]+):(\d+)  control http://([^ ]+):(\d+)$")


def an_environment() -> dict[str, str]:
    """Ours, without what steers a Proxy."""
    steering = ("CACHEROUTE_", "PROXY_", "CONFIG_PATH", "LOG_LEVEL")
    return {name: value for name, value in os.environ.items() if not name.startswith(steering)}


@dataclass(slots=True, eq=False)
class ProxyProcess:
    """A Proxy that runs, and what it has said so far."""

    process: asyncio.subprocess.Process
    service_port: int
    control_port: int
    said: list[str]

    async def ended(self, *, within_s: float = 10.0) -> int:
        """Wait until it has ended; its exit code."""
        async with asyncio.timeout(within_s):
            assert self.process.stderr is not None
            self.said += (await self.process.stderr.read()).decode().splitlines()
            return await self.process.wait()


async def ran(*arguments: str, within_s: float = 20.0) -> tuple[int, str, str]:
    """Run `python -m cacheroute` to its end; exit code, stdout and stderr."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "cacheroute", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=an_environment(),
    )  # fmt: skip
    try:
        async with asyncio.timeout(within_s):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


@contextlib.asynccontextmanager
async def a_proxy_process(
    state_dir: Path, *instances: str, **given: object
) -> AsyncIterator[ProxyProcess]:
    """Run one until the block ends; `proxy__host=...` sets `proxy.host`."""
    options = {"proxy.port": 0, "control.port": 0, "state_dir": state_dir, **given}
    arguments = [f"--set={key.replace('__', '.')}={value}" for key, value in options.items()]
    arguments += [f"--instance={url}" for url in instances]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "cacheroute", *arguments,
        stderr=asyncio.subprocess.PIPE, env=an_environment(),
    )  # fmt: skip
    try:
        assert process.stderr is not None
        said: list[str] = []
        ready = None
        async with asyncio.timeout(20):
            while ready is None:
                line = (await process.stderr.readline()).decode()
                assert line, f"it ended and said {said}"
                said.append(line.rstrip())
                ready = _READY.search(line)
        yield ProxyProcess(process, int(ready[2]), int(ready[4]), said)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
