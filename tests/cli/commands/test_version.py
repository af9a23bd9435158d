"""`cacheroute version`: for people and for programs."""

from cacheroute import __version__
from tests.cli.commands.conftest import Cli
from tests.cli.schemas.shapes import flaws_of


def test_the_version_is_that_of_the_package(cli: Cli) -> None:
    assert cli("version").out.startswith(f"cacheroute {__version__} (python 3.")


def test_the_document_has_it_too(cli: Cli) -> None:
    document = cli("version", "-o", "json").document

    assert document["version"] == __version__
    assert flaws_of(document) == []
