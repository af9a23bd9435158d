"""What the knowledge demo needs before it starts anything; the run itself is an e2e test."""

from pathlib import Path

import pytest

from cacheroute_cli.context import Context
from cacheroute_cli.knowledge_demo import KnowledgeOptions, run_knowledge_demo
from cacheroute_cli.knowledge_launch import NoRedis


def test_without_a_redis_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))

    with pytest.raises(NoRedis):
        run_knowledge_demo(Context(), KnowledgeOptions())

    assert list(tmp_path.iterdir()) == []


def test_the_defaults_are_the_mix_that_was_agreed_on() -> None:
    options = KnowledgeOptions()

    assert tuple(options.bandwidths_gbps) == (0.2, 1.0, 10.0)
    assert not options.keep
