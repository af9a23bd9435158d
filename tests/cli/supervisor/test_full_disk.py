"""A disk that is full costs log lines; what runs goes on, and so does who keeps it."""

import os
from pathlib import Path

import httpx
import pytest

from cacheroute_cli.launch import ProxyOptions, launch_proxy
from cacheroute_cli.supervisor.log_files import times_path
from cacheroute_cli.supervisor.ports import free_port
from cacheroute_cli.supervisor.process import ProcessPlan, Readiness
from cacheroute_cli.supervisor.runner import python
from tests.cli.supervisor.children import eventually
from tests.cli.supervisor.stacks import a_plan, supervised

LIMIT_BYTES = 4 * 1024 * 1024
LIMITED = (
    "import os, resource, sys\n"
    f"resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT_BYTES}, {LIMIT_BYTES}))\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)
TALKER = (
    "import os, time\n"
    "while True:\n"
    "    try:\n"
    "        os.write(1, b'still here\\n')\n"
    "    except OSError:\n"
    "        pass\n"
    "    time.sleep(0.01)\n"
)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_log_on_a_full_disk_stops_neither_its_writer_nor_the_supervisor(tmp_path: Path) -> None:
    with supervised(tmp_path) as it:
        it.home.log_of("a").symlink_to("/dev/full")
        times_path(it.home.log_of("b")).symlink_to("/dev/full")
        it.ask("apply", a_plan("a", TALKER), a_plan("b", TALKER))
        before = it.pid("a"), it.pid("b")
        assert eventually(lambda: it.status("a").cpu_percent is not None)

        assert (it.pid("a"), it.pid("b")) == before
        assert it.ask("restart", names=["a"]).changed
        it.ask("down")
        assert it.process.wait(timeout=20) == 0


def test_a_proxy_whose_log_can_grow_no_more_goes_on_serving(tmp_path: Path) -> None:
    port, control = free_port(), free_port()
    options = ProxyOptions(
        port=port, cp_port=control, settings=(f"state_dir={tmp_path / 'proxy'}",)
    )
    url = f"http://127.0.0.1:{control}"
    proxy = ProcessPlan(
        name="proxy",
        kind="proxy",
        argv=python("-I", "-S", "-c", LIMITED, *launch_proxy(options, {}).argv),
        ready=Readiness(http=f"{url}/healthz"),
    )
    with supervised(tmp_path / "state") as it:
        log = it.home.log_of("proxy")
        log.write_bytes(b"x" * (LIMIT_BYTES - 600))
        it.ask("apply", proxy)
        before = it.pid("proxy")

        for number in range(20):
            body = {"instance_id": f"i-{number}", "host": "127.0.0.1", "port": 1}
            assert httpx.post(f"{url}/v1/instance/register", json=body).status_code == 200

        assert log.stat().st_size == LIMIT_BYTES
        assert httpx.get(f"{url}/healthz").status_code == 200
        status = it.status("proxy")
        assert (status.pid, status.restarts, status.ready) == (before, 0, True)
