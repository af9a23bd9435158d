"""`cacheroute calibrate`: from an Instance or from logs to a file of coefficients."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cacheroute.client.measure import measure
from cacheroute.client.measure_plan import Plan
from cacheroute.core.engine.profile import PROFILES
from cacheroute.core.predict.coefficients import PUBLISHED, parse_coefficients
from cacheroute.runtime.request_log import RequestRecord
from cacheroute.settings.load import load
from cacheroute_cli.diagnostics import Exit
from tests.cacheroute.client.test_request_lines import written
from tests.cacheroute.runtime.test_request_log import a_record
from tests.cli.commands.conftest import Cli
from tests.cli.commands.logged import plain, scheduled
from tests.cli.supervisor.children import an_environment
from tests.support.demo import demo_instance
from tests.support.proxy import running_proxy

SPEED = 2.0
QUICK = ("--lengths", "96,160,256,384,512", "--samples", "2")


@pytest.fixture(scope="module")
def instance() -> Iterator[str]:
    with demo_instance("--profile", "llama70b", model="m", speed=SPEED) as url:
        yield url


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def step_ms(tokens: int) -> float:
    """Return what a prompt takes on the demo Instance."""
    pairs = tokens * (tokens + 1) // 2
    profile = PROFILES["llama70b"]
    return profile.step_s(tokens=tokens, pairs=pairs, context_tokens=0) * 1e3 / SPEED


# From an Instance


def test_an_instance_is_measured_into_a_file_that_a_proxy_can_be_started_with(
    cli: Cli, instance: str, tmp_path: Path
) -> None:
    said = cli("calibrate", "--endpoint", f"{instance}/v1", "--model", "m", *QUICK)

    assert said.code == Exit.OK, said.err
    header, ttft, tpot, redis, kv = (line.split() for line in said.out.splitlines())
    assert header[:2] == ["SECTION", "FROM"]
    assert (ttft[:2], tpot[:2]) == (["ttft", "measured"], ["tpot", "measured"])
    assert (redis[:2], kv[:2]) == (["redis", "published"], ["kv", "published"])
    first, *_, last = said.err.splitlines()
    assert first.startswith("measuring m, about ")
    assert first.endswith(": 21 requests")
    assert last == "next     cacheroute proxy start --set predict.coefficients=coefficients.json"

    setting = last.rpartition(" ")[2]
    settings = load(config_file=None, overrides=[setting], environ={}).settings
    coefficients = settings.predict.load()
    for tokens in (128, 448):
        wanted_ms = pytest.approx(step_ms(tokens), rel=0.15)
        assert coefficients.prefill.predict_ms(tokens) == wanted_ms
    assert coefficients.decode.tpot_ms(300) == pytest.approx(24 / SPEED, rel=0.15)
    assert coefficients.kv == PUBLISHED.kv
    ratios = coefficients.fitted["ttft"]
    assert isinstance(ratios, dict)
    assert ratios["p50_ratio"] < 0.15
    text = (tmp_path / "coefficients.json").read_text()
    assert str(tmp_path) not in text
    assert "127.0.0.1" not in text


def test_nothing_is_measured_for_a_file_that_is_in_the_way(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "coefficients.json"
    file.write_text("mine")
    said = cli("calibrate", "--endpoint", "127.0.0.1:1", "--model", "m")

    assert said.code == Exit.CONFLICT
    assert "coefficients.json exists already" in said.err
    assert "--force" in said.err
    assert file.read_text() == "mine"


def test_an_unknown_model_is_not_found(cli: Cli, instance: str) -> None:
    said = cli("calibrate", "--endpoint", instance, "--model", "other")

    assert said.code == Exit.NOT_FOUND
    assert "`other` does not exist" in said.err


def test_a_signal_ends_it_and_leaves_nothing(instance: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cacheroute_cli", "calibrate", "--endpoint", instance]
    with subprocess.Popen(
        [*command, "--model", "m", "--samples", "50"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, env=an_environment(),
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"measuring m, about ")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)

    assert process.returncode == Exit.INTERRUPTED
    assert (out, err) == (b"", b"")
    assert os.listdir(tmp_path) == []


# From logs


async def test_what_a_real_proxy_logs_teaches_what_its_instance_takes(
    cli: Cli, instance: str, tmp_path: Path
) -> None:
    log = tmp_path / "requests.jsonl"
    plan = Plan(lengths=(96, 160, 256, 384, 512), samples=2, batches=(2,), answer_tokens=10)
    async with running_proxy(instance, proxy__request_log=str(log)) as proxy:
        await measure(proxy.service_url, "m", plan)

    said = cli("calibrate", "--log", str(log), "-o", "json")

    assert said.code == Exit.OK, said.err
    ttft, tpot, *_ = said.document["sections"]
    assert (ttft["source"], tpot["source"]) == ("measured", "measured")
    assert ttft["used"] + ttft["held_out"] == plan.requests - 4  # of which two were together
    assert ttft["p50_ratio"] < 0.15
    coefficients = parse_coefficients(said.document["coefficients"])
    assert coefficients.prefill.predict_ms(448) == pytest.approx(step_ms(448), rel=0.15)
    assert coefficients.decode.tpot_ms(300) == pytest.approx(24 / SPEED, rel=0.15)


def test_a_log_of_schedulers_requests_teaches_prefill_decoding_and_pull(
    cli: Cli, tmp_path: Path
) -> None:
    log = written(tmp_path / "requests.jsonl", *scheduled(), *plain())
    with log.open("ab") as file:
        file.write(b'{"half": \n\n{"level":"info"}\n')

    said = cli("calibrate", "--log", str(log), "--to", "new.json", "-o", "json")

    assert (said.code, said.err) == (Exit.OK, "")
    document = said.document
    assert document["schema"] == "cacheroute.calibrate/1"
    assert (document["file"], document["source"], document["model"]) == ("new.json", "log", "m")
    assert document["requests"] == 48
    assert document["skipped_lines"] == 2
    assert [section["source"] for section in document["sections"]] == [
        "measured", "measured", "measured", "published",
    ]  # fmt: skip
    assert json.loads(Path("new.json").read_text()) == document["coefficients"]
    coefficients = parse_coefficients(document["coefficients"])
    assert coefficients.prefill.predict_ms(1000) == pytest.approx(312, rel=0.01)
    assert coefficients.decode.tpot_ms(1000) == pytest.approx(9.5, rel=0.01)
    pulled_ms = coefficients.pull.pull_ms(coefficients.kv.redis_gb(1024))
    assert pulled_ms == pytest.approx(15 + 102.4, rel=0.01)
    assert document["coefficients"]["fitted"]["source"] == "log"


def test_several_logs_of_plain_requests_are_enough(cli: Cli, tmp_path: Path) -> None:
    records = plain()
    older = written(tmp_path / "a.jsonl", *records[:10])
    newer = written(tmp_path / "b.jsonl", *records[10:])

    said = cli("calibrate", "--log", str(older), "--log", str(newer))

    assert said.code == Exit.OK
    written_down = json.loads(Path("coefficients.json").read_text())
    assert written_down["ttft"]["b"] == pytest.approx(0.3e-3, rel=0.01)
    assert written_down["fitted"]["redis"]["kept_from"] == "published"


def test_what_a_log_cannot_teach_is_kept_from_the_base(cli: Cli, tmp_path: Path) -> None:
    base = PUBLISHED.as_mapping() | {"redis": {"a": 7.0, "b": 3.0, "unit": "ms"}}
    (tmp_path / "base.json").write_text(json.dumps(base))
    log = written(tmp_path / "requests.jsonl", *plain())

    said = cli("calibrate", "--log", str(log), "--base", "base.json")

    assert said.code == Exit.OK
    assert "redis    base" in said.out
    assert "no measured request loaded KV" in said.out
    made = json.loads(Path("coefficients.json").read_text())
    assert (made["redis"]["a"], made["redis"]["b"]) == (7.0, 3.0)
    assert made["fitted"]["redis"]["kept_from"] == "base"


def test_stdout_may_take_the_coefficients_and_nothing_else(cli: Cli, tmp_path: Path) -> None:
    log = written(tmp_path / "requests.jsonl", *plain())

    said = cli("calibrate", "--log", str(log), "--to", "-")

    assert parse_coefficients(json.loads(said.out)).prefill.b == pytest.approx(0.3e-3, rel=0.01)
    assert "ttft     measured" in said.err
    assert "predict.coefficients=FILE" in said.err
    assert os.listdir(tmp_path) == ["requests.jsonl"]


def test_a_document_without_a_file_has_the_coefficients_in_it(cli: Cli, tmp_path: Path) -> None:
    log = written(tmp_path / "requests.jsonl", *plain())

    document = cli("calibrate", "--log", str(log), "--to", "-", "-o", "json").document

    assert document["file"] is None
    assert parse_coefficients(document["coefficients"]).pull == PUBLISHED.pull


def test_force_overwrites(cli: Cli, tmp_path: Path) -> None:
    log = written(tmp_path / "requests.jsonl", *plain())
    Path("coefficients.json").write_text("old")

    assert cli("calibrate", "--log", str(log)).code == Exit.CONFLICT
    assert cli("calibrate", "--log", str(log), "--force").code == Exit.OK
    assert json.loads(Path("coefficients.json").read_text())["ttft"]["b"] > 0


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([], "the time to first token cannot be fitted: prefill: 0 usable measurements"),
        (plain(3), "prefill: 3 usable measurements; at least 8 needed."),
        (
            [a_record(at=10.0 * n, prompt_tokens=100, cached_tokens=0) for n in range(20)],
            "prefill: all measurements are of 100 to 100 tokens",
        ),
        (plain(stream=False), "left out: 20 requests not streamed"),
        ([*plain(1) * 20], "left out: 20 requests not alone"),
    ],
)
def test_a_log_that_does_not_carry_a_forecast_says_why_and_what_helps(
    cli: Cli, tmp_path: Path, records: list[RequestRecord], words: str
) -> None:
    log = written(tmp_path / "requests.jsonl", a_record(outcome="bad_request"), *records)

    said = cli("calibrate", "--log", str(log))

    assert said.code == Exit.BAD_ANSWER
    assert said.out == ""
    assert words in said.err
    assert "left out: 1 requests did not go well at once" in said.err
    assert "hint: log for longer, or measure an idle Instance with --endpoint" in said.err
    assert not Path("coefficients.json").exists()


def test_a_poor_fit_is_remarked_upon(cli: Cli, tmp_path: Path) -> None:
    records = plain()
    for n, record in enumerate(records):
        record.ttft_ms = (record.ttft_ms or 0) * (1, 2, 0.6)[n % 3]
    log = written(tmp_path / "requests.jsonl", *records)

    said = cli("calibrate", "--log", str(log))

    assert said.code == Exit.OK
    assert "half of the held-out times to first token are off by more than" in said.err


# What cannot be done


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "say what to learn from: an Instance with --endpoint, or request logs with --log"),
        (("--endpoint", "h:1", "--log", "log"), "say what to learn from"),
        (("--log", "none.jsonl"), "none.jsonl"),
        (("--log", "log", "--lengths", "1,2"), "--lengths goes with --endpoint"),
        (("--log", "log", "--seed", "0"), "--seed goes with --endpoint"),
        (("--endpoint", "h:1"), "--endpoint needs --model"),
        (("--endpoint", "h", "--model", "m"), "--endpoint: 'h' has no port"),
        (("--endpoint", "https://h:1", "--model", "m"), "asks for TLS"),
        (("--endpoint", "h:1", "--model", "m", "--lengths", "8,x"), "--lengths takes up to 64"),
        (("--endpoint", "h:1", "--model", "m", "--lengths", ""), "--lengths takes up to 64"),
        (("--endpoint", "h:1", "--model", "m", "--lengths", "0,9"), "and not '0,9'"),
        (("--endpoint", "h:1", "--model", "m", "--context", "-1"), "--context takes up to 64"),
        (("--endpoint", "h:1", "--model", "m", "--samples", "0"), "--samples"),
        (
            ("--endpoint", "h:1", "--model", "m", "--lengths", "9,20", "--samples", "3"),
            "6 prompts of 9 to 20 tokens carry no fit: at least 8 are needed",
        ),
        (
            ("--endpoint", "h:1", "--model", "m", "--lengths", "90,100", "--samples", "9"),
            "the longest 2 times the shortest",
        ),
        (
            ("--endpoint", "h:1", "--model", "m", "--samples", "100", "--context", "9,99"),
            "that is 2413 requests; at most 1000 are sent",
        ),
        (
            ("--endpoint", "h:1", "--model", "m", "--api-key-env", "NO_SUCH_KEY"),
            "the variable NO_SUCH_KEY is not set",
        ),
        (
            ("--endpoint", "h:1", "--model", "m", "--api-key-env", "ODD_KEY"),
            "ODD_KEY holds what no HTTP header can carry",
        ),
        (("--log", "log", "--base", "bad.json"), "--base bad.json: ttft is missing."),
        (("--log", "log", "--base", "none.json"), "none.json"),
        (("--log", "log", "--to", "."), "is a folder"),
        (("--log", "log", "--to", "no/such/file"), "there is no folder"),
        (("--log", "log", "--model", "x"), "the logs have no request to 'x', but to a, b"),
        (("--log", "log"), "the logs are of 2 models (a, b), which differ in speed"),
    ],
)
def test_a_wrong_usage_is_said_before_anything_is_sent(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    written(tmp_path / "log", a_record(model="a"), a_record(model="b"))
    (tmp_path / "bad.json").write_text("{}")
    monkeypatch.setenv("ODD_KEY", "schlüssel")

    said = cli("calibrate", *arguments)

    assert said.code == Exit.USAGE
    assert said.out == ""
    assert words in said.err
    assert not Path("coefficients.json").exists()


def test_one_of_two_models_can_be_picked_out(cli: Cli, tmp_path: Path) -> None:
    others = [a_record(at=10.0 * n + 5, model="b") for n in range(5)]
    log = written(tmp_path / "log", *plain(model="a"), *others)

    said = cli("calibrate", "--log", str(log), "--model", "a", "-o", "json")

    assert (said.document["model"], said.document["left_out"]) == ("a", [])


def test_help_loads_no_client() -> None:
    program = (
        "import sys\n"
        "from cacheroute_cli.main import run\n"
        "run(['calibrate', '--help'])\n"
        "print(sorted({'httpx', 'asyncio', 'msgspec', 'rich'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"
