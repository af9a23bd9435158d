"""What is typed to search in text, as an expression that cannot keep its reader busy for ever.

Python's own engine tries one way to match after the other, takes ages where there are many
(`.*.*x` in a line without an x), and cannot be interrupted. RE2 reads each text once. The price:
it knows no look-around and no back-references, and says so.
"""

from typing import Any

MAX_PATTERN_CHARS = 200


class Expression:
    """Something to search for."""

    __slots__ = ("_compiled",)

    def __init__(self, pattern: str, *, any_case: bool = True) -> None:
        """Take a pattern in RE2's syntax; raises ValueError with the reason when it is none."""
        # Only who searches pays for loading it.
        import re2

        if len(pattern) > MAX_PATTERN_CHARS:
            raise ValueError(f"a regular expression has at most {MAX_PATTERN_CHARS} characters")
        options = re2.Options()
        options.case_sensitive = not any_case
        options.log_errors = False
        try:
            self._compiled: Any = re2.compile(pattern.encode(errors="surrogatepass"), options)
        except re2.error as problem:
            reason = problem.args[0].decode(errors="replace")
            raise ValueError(f"/{pattern}/ is no regular expression: {reason}") from None

    def is_in(self, text: str) -> bool:
        """Whether it matches somewhere in a text; takes time in proportion to its length."""
        # File names and logs may hold halves of characters, which have no UTF-8.
        return self._compiled.search(text.encode(errors="replace")) is not None


def search_pattern(text: str) -> Expression | None:
    """Read an expression, any case; None for a blank one. Raises ValueError with the reason."""
    return Expression(text) if text.strip() else None
