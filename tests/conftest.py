"""What holds for all tests: enough descriptors, and nothing skipped where all is installed."""

import gc
import os
import resource
import signal
import sys
from collections.abc import Generator

import hypothesis
import pytest

# A busy machine is no defect: nothing here is judged by the wall clock.
hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.load_profile("default")

DESCRIPTORS = 8192


def pytest_configure() -> None:
    """Start programs as from a shell, and keep compiled modules: hundreds of them need ours."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # Under `nohup` the programs that tests start would ignore the hang-up that is sent to them.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Leave ten thousand tests and all modules out of each later search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_sessionstart() -> None:
    """Have clients, a Proxy and Instances in one process: more than the usual 1024 allow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail what would be skipped while `CI` is set: a check that did not run proves nothing."""
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason} (nothing may be skipped while CI is set)"
    return report
