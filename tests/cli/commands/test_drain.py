"""`cacheroute drain` on a Proxy that runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, replies
from tests.cli.live_proxy import live_proxy
from tests.cli.supervisor.children import an_environment, eventually


def test_a_drain_is_shown_as_a_row_and_as_a_document(cli: Cli, tmp_path: Path) -> None:
    with live_proxy(tmp_path) as proxy:
        proxy.register("i-1", "i-2", "i-3")
        proxy.occupy("i-2", 4)
        said = cli("drain", "i-2", "-y", "--reason", "new driver", "--proxy-url", proxy.url)
        again = cli("drain", "i-2", "-y", "-o", "json", "--proxy-url", proxy.url)
        routable = proxy.routable()
        proxy.release()

    assert (said.code, said.err) == (Exit.OK, "")
    assert said.out == "i-2\talive\tdrain 4\t4\t0\n"
    document = again.document
    assert (document["schema"], document["verb"], document["total"]) == (
        "cacheroute.change/1", "drain", 1,
    )  # fmt: skip
    assert document.keys() == {
        "schema", "generated_at", "proxy_url", "verb", "kept", "left_count", "left_ids",
        "left_resting", "left_without", "waited_s", "strategy", "total", "items",
    }  # fmt: skip
    [item] = document["items"]
    assert item.keys() == {
        "id", "changed", "before", "after", "inflight", "waiting", "was", "now",
    }  # fmt: skip
    assert (item["changed"], item["inflight"], item["after"]["reason"]) == (False, 4, "new driver")
    assert (document["kept"], document["left_ids"]) == (True, ["i-1", "i-3"])
    assert routable == {"i-1", "i-3"}


def test_in_a_script_without_a_yes_nothing_is_drained_and_the_way_out_is_told(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        proxy.occupy("i-1", 2)
        said = cli("drain", "i-1", "--proxy-url", proxy.url)
        asked_nothing = cli("drain", "i-1", "--no-input", "--proxy-url", proxy.url)
        routable = proxy.routable()
        proxy.release()

    assert (said.code, said.out) == (Exit.USAGE, "")
    assert "drain i-1: 2 requests run there; 1 Instance is left, alive" in said.err
    assert "hint: add -y" in said.err
    assert asked_nothing.code == Exit.USAGE
    assert routable == {"i-1", "i-2"}


def test_what_changes_nothing_needs_no_yes(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        cli("drain", "i-1", "-y", "--proxy-url", proxy.url)
        said = cli("drain", "i-1", "--proxy-url", proxy.url)

    assert (said.code, said.out) == (Exit.OK, "i-1\tdrain\tdrain (no change)\t0\t0\n")


def test_all_ids_are_known_before_any_is_drained(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("inst-1", "inst-2", "inst-3")
        said = cli("drain", "inst-1", "inst_22", "-y", "-o", "json", "--proxy-url", proxy.url)
        routable = proxy.routable()

    assert (said.code, said.out) == (Exit.NOT_FOUND, "")
    assert said.error["code"] == "instance.unknown"
    assert "was inst-2 meant?" in said.error["message"]
    assert len(routable) == 3


def test_the_last_one_is_drained_by_force_only(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        refused = cli("drain", "i-1", "i-2", "-y", "--proxy-url", proxy.url)
        between = proxy.routable()
        forced = cli("drain", "i-1", "i-2", "-y", "--force", "-o", "name", "--proxy-url", proxy.url)
        after = proxy.routable()

    assert refused.code == Exit.FAILED
    assert "nobody takes new requests once i-1, i-2 are drained" in refused.err
    assert "hint: add --force" in refused.err
    assert (forced.code, forced.out) == (Exit.OK, "i-1\ni-2\n")
    assert (between, after) == ({"i-1", "i-2"}, set())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["a b"], "no Instance can be called 'a b'"),
        (["i-1", "--reason", "x" * 201], "reason: string should have at most 200 characters"),
    ],
)
def test_what_the_proxy_would_not_read_is_a_wrong_usage(
    cli: Cli, arguments: list[str], expected: str
) -> None:
    said = cli("drain", "-y", *arguments, "--proxy-url", "http://127.0.0.1:1")

    assert said.code == Exit.USAGE
    assert expected in said.err


def test_a_read_only_context_sends_nothing_unless_told_to(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CACHEROUTE_READONLY", "1")
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        refused = cli("drain", "i-1", "-y", "-o", "json", "--proxy-url", proxy.url)
        between = proxy.routable()
        allowed = cli("drain", "i-1", "-y", "--write", "--proxy-url", proxy.url)
        after = proxy.routable()

    assert (refused.code, refused.error["code"]) == (Exit.NOT_ALLOWED, "write.refused")
    assert "--write" in refused.error["hint"]
    assert allowed.code == Exit.OK
    assert (between, after) == ({"i-1", "i-2"}, {"i-2"})


def test_who_drains_is_written_down(cli: Cli, tmp_path: Path) -> None:
    with live_proxy(tmp_path) as proxy:
        proxy.register("i-1", "i-2")
        cli("drain", "i-1", "-y", "--proxy-url", proxy.url)

    [audit] = tmp_path.glob("*/audit.jsonl")
    line = json.loads(audit.read_text())
    assert (line["verb"], line["instance_id"], line["peer"]) == ("drain", "i-1", "127.0.0.1")
    assert line["user"].endswith(f"@{os.uname().nodename}")


def test_a_wait_ends_when_the_last_request_does(tmp_path: Path) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        proxy.occupy("i-1", 2)
        command = [
            sys.executable, "-m", "cacheroute_cli", "drain", "i-1", "-y", "--wait",
            "-o", "json", "--proxy-url", proxy.url,
        ]  # fmt: skip
        with subprocess.Popen(
            command,
            env=an_environment(CACHEROUTE_STATE_DIR=str(tmp_path)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as drain:
            eventually(lambda: proxy.routable() == {"i-2"})
            proxy.release(1)
            assert drain.poll() is None
            proxy.release()
            out, err = drain.communicate(timeout=30)

    assert drain.returncode == Exit.OK, err
    document = json.loads(out)
    assert document["items"][0]["inflight"] == 0
    assert document["items"][0]["changed"]
    assert document["waited_s"] > 0
    assert err == "waiting for 2 requests\n"


def test_a_wait_that_takes_too_long_says_what_still_runs_and_leaves_it_drained(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        proxy.occupy("i-1", 3)
        said = cli(
            "drain", "i-1", "-y", "--wait", "--timeout", "0.15", "-o", "json",
            "--proxy-url", proxy.url,
        )  # fmt: skip
        routable = proxy.routable()
        proxy.release()

    assert (said.code, said.out) == (Exit.WAIT_TIMED_OUT, "")
    error = json.loads(said.err.splitlines()[-1])["error"]
    assert (error["code"], error["inflight"], error["exit"]) == ("drain.timeout", {"i-1": 3}, 7)
    assert "it stays drained" in error["hint"]
    assert routable == {"i-2"}


def test_a_proxy_that_knows_no_changes_is_of_another_version(cli: Cli) -> None:
    with a_control_plane(replies()) as url:
        said = cli("drain", "i-1", "-y", "--proxy-url", url)

    assert (said.code, said.out) == (Exit.NOT_UNDERSTOOD, "")
    assert "knows no such change" in said.err
