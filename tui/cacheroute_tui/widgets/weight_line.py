"""The field for weights of a what-if: the map follows while it is typed, and nothing else does."""

from cacheroute_tui.widgets.text_field import ProblemOf, TextField


class WeightLine(TextField):
    """`inflight=0.5 ready=2`; its messages can be told from those of a search."""

    class Changed(TextField.Changed):
        """The weights are others."""

    class Closed(TextField.Closed):
        """The field is no longer used."""

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 - the toolkit's name
        problem_of: ProblemOf,
    ) -> None:
        super().__init__(
            "w",
            id=id,
            problem_of=problem_of,
            placeholder="inflight=0.5 decode=2, only here; the Proxy is not told",
        )
