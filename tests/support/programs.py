"""Programs of ours in processes of their own, which end with the test whatever happens.

They inherit nothing that would tell them whom to register with, or where.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator

Process = asyncio.subprocess.Process

_OURS = ("CACHEROUTE_", "INSTANCE_", "KDN_", "PROXY_")
_PATIENCE_S = 20


async def started(module: str, *argv: str) -> Process:
    """Start one that ends by itself."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *argv,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if not name.startswith(_OURS)},
    )  # fmt: skip


@contextlib.asynccontextmanager
async def running(module: str, *argv: str) -> AsyncIterator[Process]:
    """Run one, and see to it that it ends."""
    process = await started(module, *argv)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@contextlib.asynccontextmanager
async def listening(module: str, *argv: str) -> AsyncIterator[tuple[Process, str]]:
    """Run one on any port, and give its URL."""
    async with running(module, "--port", "0", *argv) as process:
        yield process, await url_said(process, "listening on")


async def url_said(process: Process, word: str) -> str:
    """Return the URL that stands in its next line, behind a word."""
    assert process.stdout is not None
    async with asyncio.timeout(_PATIENCE_S):
        line = (await process.stdout.readline()).decode()
    assert line.startswith(f"{word} http://127.0.0.1:"), line
    return line.split()[-1]


async def ended(process: Process) -> tuple[int | None, str]:
    """Wait for the end; return the exit code and all of stderr."""
    async with asyncio.timeout(_PATIENCE_S):
        _, errors = await process.communicate()
    return process.returncode, errors.decode()
