"""The field for a filter: it filters while it is typed, and says what it does not understand."""

from cacheroute_tui.widgets.text_field import ProblemOf, TextField


class FilterLine(TextField):
    """A text field whose messages a screen can tell from those of its search."""

    class Changed(TextField.Changed):
        """The filter is another one."""

    class Closed(TextField.Closed):
        """The field is no longer used."""

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 - the toolkit's name
        problem_of: ProblemOf,
    ) -> None:
        super().__init__("/", id=id, problem_of=problem_of)
