"""Our metrics against a page that vLLM 0.32 served."""

import re
from pathlib import Path

from cacheroute.demo.vllm_families import HISTOGRAMS, VALUES

PAGE = (Path(__file__).parent / "vllm-0.32-metrics.txt").read_text()


def captured(word: str) -> dict[str, str]:
    """Return the help texts or types of the captured page, by name."""
    return dict(re.findall(rf"^# {word} (\S+) (.*)$", PAGE, re.MULTILINE))


def test_every_metric_has_the_name_type_and_help_of_vllm() -> None:
    helps, types = captured("HELP"), captured("TYPE")
    for family in [*VALUES.values(), *(family for family, _ in HISTOGRAMS.values())]:
        name = f"{family.name}_total" if family.kind == "counter" else family.name
        assert (types.get(name), helps.get(name)) == (family.kind, family.help), name


def test_every_histogram_has_the_buckets_of_vllm() -> None:
    for family, bounds in HISTOGRAMS.values():
        found = re.findall(rf'^{family.name}_bucket{{.*le="([^"]+)".*}}', PAGE, re.MULTILINE)
        assert found == [*map(str, bounds), "+Inf"], family.name
