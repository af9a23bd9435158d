"""The Request that goes to a Proxy, with every one of its published fields.

Fields that tell nothing here (disaggregated prefill, compression, service levels) have fixed
values; the published Scheduler draws some of them from the client's address.
"""

from collections.abc import Iterator
from itertools import cycle

from cacheroute.demo import tokens
from cacheroute.demo.scheduler.ask import Ask
from cacheroute.demo.scheduler.knowledge import Found
from cacheroute.demo.scheduler.proxies import ProxyRecord
from cacheroute.wire import strict_json

MAX_REQUEST_ID = 65535


def request_ids() -> Iterator[int]:
    """Count from 1 to 65535 and around; what is running may meet its own number again."""
    return cycle(range(1, MAX_REQUEST_ID + 1))


def render_request(request_id: int, ask: Ask, found: Found, proxy: ProxyRecord) -> bytes:
    """Write the Request."""
    prompt = {
        "model": ask.model,
        "user_prompt": ask.user_prompt,
        "token_length": tokens.count(tokens.encode(ask.user_prompt)),
        "bs": 1,
        "max_tokens": ask.max_tokens,
        "stream": ask.stream,
        "temperature": ask.temperature,
        "top_p": ask.top_p,
    }
    service = {
        "Enable_PD_Disaggregation": False,
        "Enable_know_injection": ask.wants_knowledge,
        "Injection_type": ask.mode,
        "Enable_compress": True,
        "Compress_factor": 0.3,
        "Enable_security": False,
        "Knowledge_block_num": 1,
        "Knowledge_List": list(found.ids),
        "Knowledge_length": found.tokens,
        "SLO_TTFT": 5000,
        "SLO_E2E": 55000,
        "SLO_TPOT": 50,
        "Endpoint_type": ask.endpoint,
    }
    task = {
        # A client's address would be taken for more than it is behind another proxy.
        "User_addr": "",
        "KDN_server_addr": found.kdn_address,
        "default_know_addr": "",
        "P_proxy_id": proxy.proxy_id,
        "P_proxy_addr": proxy.address.host,
        "P_proxy_port": proxy.address.port,
        "D_proxy_addr": "",
        "D_proxy_port": 0,
        "prefill_instance": "0",
        "decode_instance": "",
        "batch_order": 0,
        "User_url_path": f"/v1/{ask.endpoint}",
    }
    return strict_json.encode(
        {
            "Request_ID": request_id,
            "Request_type": "request",
            "Prompt": prompt,
            "Service": service,
            "Task": task,
        }
    )
