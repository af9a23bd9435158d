"""Sources say what they cannot tell, each panel with its reason."""

from pathlib import Path

from cacheroute.client.control import AsyncControlClient
from cacheroute.console.source import Capabilities, NotTold, Playable, Source, SourceFault
from cacheroute.sources.live import LiveSource
from cacheroute.sources.replay import ReplaySource
from cacheroute.sources.simulated import SimulatedSource
from tests.cacheroute.sources.recordings import a_recording


def test_a_panel_that_is_missing_has_a_reason_and_others_have_none() -> None:
    able = Capabilities(missing={"traces": "this Proxy has none"})

    assert able.reason("traces") == "this Proxy has none"
    assert able.reason("decisions") is None


def test_what_a_source_does_not_have_is_told_from_one_that_fails() -> None:
    fault = NotTold("traces", "this Proxy has none")

    assert isinstance(fault, SourceFault)
    assert (fault.code, fault.panel, str(fault)) == ("missing", "traces", "this Proxy has none")
    assert SourceFault("no", code="refused", url="http://x").url == "http://x"


def test_every_source_is_one_and_only_a_recording_can_be_played(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    a_recording(path)
    recorded = ReplaySource.open(path)
    sources: list[Source] = [
        LiveSource(AsyncControlClient("http://x")), recorded, SimulatedSource(instances=1),
    ]  # fmt: skip

    assert [source.kind for source in sources] == ["live", "replay", "demo"]
    assert [isinstance(source, Playable) for source in sources] == [False, True, False]
    assert all(source.pages() for source in sources)
    recorded.recording.close()
