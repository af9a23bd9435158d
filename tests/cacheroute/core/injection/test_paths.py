"""What became of a request's knowledge, in three numbers."""

from cacheroute.core.injection.paths import KnowledgeCounts, summed_up


def test_whatever_is_neither_kv_nor_text_is_a_fallback() -> None:
    paths = {
        "kv_inject": 3, "text_inject": 5, "no_rag_or_empty_knowledge": 100, "lookup_failed": 7,
        "kv_inject_failed_fallback_text": 11, "a_word_that_is_new": 13,
    }  # fmt: skip
    assert summed_up(paths) == KnowledgeCounts(kv_inject=3, text_inject=5, fallback=31)


def test_of_nothing_there_is_nothing() -> None:
    assert summed_up({}) == KnowledgeCounts(kv_inject=0, text_inject=0, fallback=0)
