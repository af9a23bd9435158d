import pytest

from cacheroute.agent.options import Options, parse_options


def test_without_arguments_the_published_defaults_hold() -> None:
    assert parse_options([], {}) == Options(
        host="127.0.0.1",
        port=9201,
        instance_id="unknown",
        sample_interval_ms=1000,
        gpu_util_window_ms=5000,
        gpu_util_max_samples=20,
    )


def test_every_option_can_be_given() -> None:
    given = ["--listen", "[::1]:0", "--sample-interval-ms", "250", "--instance-id", "i-1"]
    given += ["--gpu-util-window-ms", "3000", "--gpu-util-max-samples", "7"]

    assert parse_options(given, {"INSTANCE_ID": "i-2"}) == Options(
        host="::1",
        port=0,
        instance_id="i-1",
        sample_interval_ms=250,
        gpu_util_window_ms=3000,
        gpu_util_max_samples=7,
    )


@pytest.mark.parametrize(("value", "expected"), [("i-2", "i-2"), ("", "unknown")])
def test_the_instance_id_comes_from_the_environment_when_it_is_set(
    value: str,
    expected: str,
) -> None:
    assert parse_options([], {"INSTANCE_ID": value}).instance_id == expected


@pytest.mark.parametrize(
    "arguments",
    [
        *(["--listen", text] for text in ("", "9201", ":9201", "h:", "h:x", "h:70000", "h:-1")),
        *(["--listen", text] for text in ("::1:9201", "[h]:9201", "[]:1", "h:٣", "h:x1", "a..b:1")),
        *(["--sample-interval-ms", text] for text in ("0", "49", "3600001", "x", "1.5", "nan")),
        ["--gpu-util-window-ms", "0"],
        ["--gpu-util-max-samples", "10001"],
        ["--instance-id", ""],
        ["--instance-id", "a\nb"],
        ["--instance-id", "x" * 257],
        ["--unknown"],
        ["--sample", "1000"],
        ["extra"],
    ],
)
def test_a_wrong_option_is_one_line_and_exit_2(
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as left:
        parse_options(arguments, {})

    assert left.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    error, hint = said.err.splitlines()
    assert error.startswith("cacheroute: error: ")
    assert hint == "  hint: try 'cacheroute agent start --help'"


def test_the_complaint_names_the_option_the_bounds_and_the_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        parse_options(["--sample-interval-ms", "7"], {})

    assert capsys.readouterr().err == (
        "cacheroute: error: --sample-interval-ms: "
        "must be a whole number from 50 to 3600000, not '7'\n"
        "  hint: try 'cacheroute agent start --help'\n"
    )
