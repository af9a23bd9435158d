"""Which name was meant: a misspelt key is answered with the nearest one that exists."""

from collections.abc import Iterable

_MAX_CHARS = 128


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the most similar name, dashes and letter case aside; None where none is near."""
    from difflib import get_close_matches  # costs 3 ms, and only mistakes need it

    plain = {_plain(candidate): candidate for candidate in known}
    found = get_close_matches(_plain(name[:_MAX_CHARS]), plain, n=1, cutoff=cutoff)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
