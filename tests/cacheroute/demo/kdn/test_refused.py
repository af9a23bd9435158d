import json

from cacheroute.demo.kdn.refused import Refused


def test_the_sentence_stands_where_lookups_and_where_injections_have_it() -> None:
    refused = Refused(400, "knowledge_ids is empty")

    assert refused.status == 400
    assert json.loads(refused.body) == {
        "ok": False, "error": "knowledge_ids is empty", "detail": "knowledge_ids is empty",
    }  # fmt: skip
