"""What is said over the socket comes out as it went in."""

import msgspec
import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.faults import NotReady, PortTaken
from cacheroute_cli.supervisor.messages import (
    RemoteFault,
    Reply,
    Request,
    SpokenFault,
    encode,
    read_reply,
    read_request,
    speak_fault,
)
from cacheroute_cli.supervisor.process import PlannedPort, Readiness
from cacheroute_cli.supervisor.stack_home import ProcessStatus
from tests.cli.supervisor.stacks import a_plan


def test_a_request_with_all_its_plans_comes_out_as_it_went_in() -> None:
    plan = a_plan(
        "a",
        env={"A": "1"},
        ports=(PlannedPort(name="service", host="::1", port=9),),
        ready=Readiness(http="http://h/x", member="a", pool="http://p"),
        check=("/bin/true",),
    )
    request = Request(do="apply", plans=(plan,), kinds=("instance",), timeout_s=2.5, file="/f")

    read = read_request(encode(request))

    assert read == request
    assert read.plans[0].digest == plan.digest


def test_a_reply_is_one_line() -> None:
    reply = Reply(process=ProcessStatus(name="a\nb", kind="proxy", stack="s", state="running"))

    assert encode(reply).count(b"\n") == 1
    assert read_reply(encode(reply)) == reply


def test_a_fault_keeps_its_code_its_exit_and_its_plain_details() -> None:
    fault = PortTaken("port 1 is taken", hint="stop it", port=1, pid=None, other=object())

    spoken = speak_fault(fault)
    heard = RemoteFault(spoken)

    assert (heard.code, heard.exit) == ("port.taken", Exit.CONFLICT)
    assert heard.details == {"port": 1, "pid": None}
    assert (heard.message, heard.hint) == ("port 1 is taken", "stop it")


def test_faults_do_not_share_their_codes() -> None:
    one = RemoteFault(speak_fault(NotReady("late")))
    other = RemoteFault(SpokenFault(code="x", exit=77, message="m"))

    assert (one.exit, other.exit) == (Exit.WAIT_TIMED_OUT, Exit.FAILED)


def test_what_is_no_request_is_refused() -> None:
    with pytest.raises(msgspec.MsgspecError):
        read_request(b'{"do":"dance"}')
