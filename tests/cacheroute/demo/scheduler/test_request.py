import json
from itertools import islice
from typing import Any

from cacheroute.demo.scheduler.knowledge import NOTHING, Found
from cacheroute.demo.scheduler.request import MAX_REQUEST_ID, render_request, request_ids
from tests.cacheroute.demo.scheduler.parts import a_proxy, asked, completed, user

FOUND = Found(ids=("ab", "cd"), tokens=300, kdn_address="127.0.0.1:9101")


def rendered(*args: Any) -> Any:
    return json.loads(render_request(*args))


def test_a_request_has_every_published_field() -> None:
    request = rendered(17, asked(RAG=True, stream=True, max_tokens=5), FOUND, a_proxy("p-1"))

    assert request == {
        "Request_ID": 17,
        "Request_type": "request",
        "Prompt": {
            "model": "m", "user_prompt": "hi", "token_length": 1, "bs": 1, "max_tokens": 5,
            "stream": True, "temperature": 1.0, "top_p": 1.0,
        },
        "Service": {
            "Enable_PD_Disaggregation": False, "Enable_know_injection": True,
            "Injection_type": "kvcache", "Enable_compress": True, "Compress_factor": 0.3,
            "Enable_security": False, "Knowledge_block_num": 1, "Knowledge_List": ["ab", "cd"],
            "Knowledge_length": 300, "SLO_TTFT": 5000, "SLO_E2E": 55000, "SLO_TPOT": 50,
            "Endpoint_type": "chat/completions",
        },
        "Task": {
            "User_addr": "", "KDN_server_addr": "127.0.0.1:9101", "default_know_addr": "",
            "P_proxy_id": "p-1", "P_proxy_addr": "127.0.0.1", "P_proxy_port": 8001,
            "D_proxy_addr": "", "D_proxy_port": 0, "prefill_instance": "0",
            "decode_instance": "", "batch_order": 0, "User_url_path": "/v1/chat/completions",
        },
    }  # fmt: skip


def test_without_knowledge_the_fields_are_there_and_empty() -> None:
    request = rendered(1, completed("x"), NOTHING, a_proxy())

    assert request["Service"]["Knowledge_List"] == []
    assert request["Service"]["Enable_know_injection"] is False
    assert request["Service"]["Endpoint_type"] == "completions"
    assert request["Task"]["KDN_server_addr"] == ""


def test_tokens_are_counted_as_the_demo_instance_counts_them() -> None:
    request = rendered(1, asked(messages=[user("x" * 41)]), NOTHING, a_proxy())

    assert request["Prompt"]["token_length"] == 11


def test_numbers_run_from_1_to_65535_and_around() -> None:
    numbers = list(islice(request_ids(), MAX_REQUEST_ID + 1))

    assert (numbers[0], numbers[-2], numbers[-1]) == (1, 65535, 1)
