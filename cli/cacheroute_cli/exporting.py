"""The list `history` of `export`: every look of a recording, an Instance a line.

Lines are written look by look, so an hour of a thousand Instances needs no more memory than one
look of them.
"""

from collections.abc import Iterator
from pathlib import Path

from cacheroute.console.amounts import render_instant
from cacheroute.console.kinds import KINDS
from cacheroute.console.look import Look
from cacheroute.console.source import SourceFault
from cacheroute.sources.recording import RecordingProblem
from cacheroute.sources.replay import ReplaySource
from cacheroute_cli.asking import Found
from cacheroute_cli.diagnostics import Exit, Fault, UsageFault, note
from cacheroute_cli.list_options import Listing
from cacheroute_cli.lists import Shown
from cacheroute_cli.looking import form_of
from cacheroute_cli.output import document_text, print_rows

FORMS = ("csv", "jsonl")
ROW_SCHEMA = "cacheroute.history.row/1"


class BadRecording(Fault):
    """The file is no recording, or a damaged one."""

    code = "recording.bad"
    exit = Exit.USAGE


def export_history(listing: Listing, path: Path, kind_name: str = "instances") -> None:
    """Print the looks of a recording, the oldest first."""
    form = form_of(listing.watching, "csv")
    if form not in FORMS:
        raise UsageFault(f"there is no {form} of a history; there are {', '.join(FORMS)}")
    shown = Shown(listing, KINDS[kind_name])
    try:
        source = ReplaySource.open(path)
    except RecordingProblem as problem:
        raise BadRecording(str(problem)) from problem
    with source.recording as recording:
        if recording.is_torn:
            note(f"{path} ends within a part; what is whole is printed")
        for number, look in enumerate(_looks(source)):
            view = shown.view(Found(rows=look.instances))
            stamp = "" if look.at is None else render_instant(look.at)
            if form == "csv":
                print_rows(view.csv(stamp=stamp, headers=number == 0))
            else:
                print_rows(
                    [
                        document_text(ROW_SCHEMA, {"at": stamp or None, **content})
                        for _, content in view.records()
                    ]
                )


def _looks(source: ReplaySource) -> Iterator[Look]:
    for index in range(source.recording.looks):
        try:
            yield source.look_at(index)
        except SourceFault as problem:
            note(problem.message)
