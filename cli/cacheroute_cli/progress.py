"""How far a long piece of work is: a bar on a terminal, a line in a log."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cacheroute_cli.diagnostics import note, stderr_is_terminal


@contextmanager
def progress(what: str, total: int, unit: str = "requests") -> Iterator[Callable[[], None]]:
    """Show the work while it goes on; yields what to call for each piece done."""
    if not stderr_is_terminal():
        note(f"{what}: {total} {unit}")
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True, markup=False, highlight=False)
    with Progress(*columns, console=console, refresh_per_second=5) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
