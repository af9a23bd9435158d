import pytest

from cacheroute.demo.kv_options import KvOptions, PullTime
from cacheroute.demo.options import parse_options
from cacheroute.formats.address import Address
from cacheroute.member.arguments import EXIT_USAGE


def parse(*argv: str, **environ: str) -> KvOptions | None:
    return parse_options(argv, environ).kv


def test_without_a_word_there_is_no_store() -> None:
    assert parse() is None
    assert parse(INSTANCE_REDIS_PASSWORD="secret", INSTANCE_REDIS_PORT="7") is None


def test_the_published_environment_is_read() -> None:
    assert parse(
        INSTANCE_REDIS_HOST="10.0.0.1", INSTANCE_REDIS_PORT="7000", INSTANCE_REDIS_DB="3",
        INSTANCE_REDIS_PASSWORD="secret",
    ) == KvOptions(address=Address("10.0.0.1", 7000), db=3, password="secret")  # fmt: skip
    assert parse(INSTANCE_REDIS_HOST="127.0.0.1") == KvOptions()
    assert parse(INSTANCE_REDIS_HOST="::1") == KvOptions(address=Address("::1", 6379))


def test_the_command_line_outranks_the_environment() -> None:
    kv = parse("--kv-redis", "redis://127.0.0.1:7001/2", INSTANCE_REDIS_HOST="10.0.0.1")
    assert kv == KvOptions(address=Address("127.0.0.1", 7001), db=2)
    assert parse("--kv-redis", "", INSTANCE_REDIS_HOST="10.0.0.1") is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://127.0.0.1", "redis://127.0.0.1:6379/0"),
        ("127.0.0.1:7000", "redis://127.0.0.1:7000/0"),
        ("redis://[::1]/4", "redis://[::1]:6379/4"),
        ("redis://[::1]:7000/", "redis://[::1]:7000/0"),
        ("redis://Some.Host/1", "redis://some.host:6379/1"),
    ],
)
def test_an_address_may_be_short(text: str, shown: str) -> None:
    assert str(parse("--kv-redis", text)) == shown


def test_everything_else_has_an_option() -> None:
    kv = parse(
        "--kv-redis", "h", "--kv-save", "--kv-pull-ms-per-gb", "10", "--kv-pull-ms-base", "0"
    )  # fmt: skip
    assert kv is not None
    assert (kv.saves, kv.pull) == (True, PullTime(ms_per_gb=10.0, base_ms=0.0))


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--kv-redis", "redis://h:0/0"], "must be redis://HOST:PORT/DB: the port must be"),
        (["--kv-redis", "http://h:1"], "must be redis://HOST:PORT/DB: "),
        (["--kv-redis", "redis://h/x"], "with a number, not 'x'"),
        (["--kv-redis", "redis://h/99999"], "with a number, not '99999'"),
        (["--kv-save"], "--kv-redis is missing"),
        (["--kv-redis", "h", "--kv-pull-ms-base", "nan"], "a number from 0"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(*argv)
    assert caught.value.code == EXIT_USAGE
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 2


def test_a_password_is_never_shown(capsys: pytest.CaptureFixture[str]) -> None:
    kv = KvOptions(password="secret")
    assert "secret" not in f"{kv} {kv!r}"
    with pytest.raises(SystemExit):
        parse("--kv-redis", "redis://:secret@h:1")
    told = capsys.readouterr().err
    assert "give the password as INSTANCE_REDIS_PASSWORD" in told
    assert "secret" not in told


def test_a_thousand_tokens_of_a_70b_model_take_as_long_as_was_published() -> None:
    assert PullTime().seconds(96_000_000) * 1000 == pytest.approx(
        2764.34 * 0.0381 + 12.46, rel=1e-4
    )
