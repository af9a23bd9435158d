"""`examples/01-two-instances`: a prefix that is cached, and where."""

import signal
import subprocess

from tests.examples.running import Example

SCRIPT = "01-two-instances/two_instances.py"


def rows_of(text: str) -> list[list[str]]:
    table = text.partition("ANSWERED BY")[2].partition("\n\n")[0]
    return [line.split() for line in table.splitlines()[1:]]


def test_a_prompt_is_cheap_where_its_beginning_is_known() -> None:
    example = Example(SCRIPT)

    rows = rows_of(example.run())

    assert [row[0] for row in rows[:2]] == [row[0] for row in rows[2:]]
    assert {row[0] for row in rows} == {"red", "blue"}
    cached = [int(row[2]) / int(row[1]) for row in rows]
    assert cached[:2] == [0, 0]
    assert min(cached[2:]) > 0.9
    ttft_ms = [float(row[3]) for row in rows]
    assert sum(ttft_ms[2:]) < sum(ttft_ms[:2])
    assert example.processes() == []


def test_a_kill_in_the_middle_leaves_nothing() -> None:
    example = Example(SCRIPT)

    with subprocess.Popen(
        example.command, env={**example.env, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        wanted = (line for line in running.stdout if line.startswith("$ cacheroute instances"))
        assert next(wanted, None) is not None
        running.send_signal(signal.SIGTERM)
        running.stdout.read()
        code = running.wait(timeout=60)

    assert code == 143
    assert example.processes() == []
