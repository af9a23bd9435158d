"""What the README says in tables is what the code does."""

import re

from cacheroute.core import errors as own
from tests.architecture.readme import README, TABLES, rendered, tables_in
from tests.architecture.sources import ROOT

HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")

NEVER_SENT = {"bad_config", "upstream_error", "upstream_status"}
"""Codes of errors that end a start, or that only their own kinds are raised of."""


def test_the_tables_are_those_that_the_code_makes() -> None:
    text = README.read_text(encoding="utf-8")

    assert rendered(text) == text, "run: python -m tests.architecture.readme --write"


def test_every_table_has_its_place_once() -> None:
    assert sorted(tables_in(README.read_text(encoding="utf-8"))) == sorted(TABLES)


def test_every_error_of_ours_is_in_the_table_of_errors() -> None:
    errors = README.read_text(encoding="utf-8").partition("## Errors")[2].partition("\n## ")[0]

    kinds = [kind for kind in vars(own).values() if isinstance(kind, type)]
    codes = {kind.code for kind in kinds if issubclass(kind, own.CacheRouteError)}

    assert {code for code in codes - NEVER_SENT if f"`{code}`" not in errors} == set()


def test_a_link_leads_to_a_file_or_a_heading() -> None:
    text = README.read_text(encoding="utf-8")
    headings = {
        re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in HEADING.findall(text)
    }
    links = [link for link in LINK.findall(text) if "://" not in link]

    broken = [
        link
        for link in links
        if (link[1:] not in headings if link.startswith("#") else not (ROOT / link).exists())
    ]

    assert links
    assert broken == []
