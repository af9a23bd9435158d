"""Words of CacheRoute that no column is named after, each in a sentence or two."""

from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "instance": "A model server that the Proxy sends requests to: vLLM, or anything else that "
    "speaks the OpenAI paths.",
    "proxy": "What clients talk to: it chooses an Instance for each request, and tells why.",
    "scheduler": "What stands before several Proxies; it finds the knowledge a request needs.",
    "kdn": "Knowledge delivery node: it keeps texts and their KV caches, and puts a cache into "
    "an Instance before a request comes.",
    "agent": "The resource agent: one on each host, it reads processor, memory and GPU.",
    "pool": "All Instances that the Proxy knows, alive or not.",
    "alive": "Heard of within its time to live; only these get requests.",
    "stale": "Unheard of for longer than its time to live, and for three times it at most.",
    "dead": "Unheard of for longer than three times its time to live; forgotten after ten minutes.",
    "silent": "An Instance from the settings that answers no probe; it never expires.",
    "drain": "Takes no new work, and finishes what it has.",
    "ejected": "Failed several times in a row lately, so it rests before it is tried again.",
    "ttl": "Time to live: the silence after which an Instance is no longer alive.",
    "static": "An Instance from the settings: it is probed instead of sending heartbeats.",
    "round_robin": "The strategy that takes Instances in turns, by their weights.",
    "least_load": "The strategy that takes the Instance with the lowest score; ties go by turns.",
    "weights": "What each signal is multiplied with in a score. Those shown are the Proxy's own.",
    "what-if": "Scores under other weights, worked out by the console; the Proxy does not hear "
    "of it.",
    "iws": "The injection strategy that takes text or KV for each request, whichever is "
    "predicted to be faster.",
    "injection": "How knowledge comes into a request: as text in the prompt, or as a KV cache.",
    "prepare": "The queue of requests whose knowledge is being brought in.",
    "ready": "The queue of requests that are prepared and wait for the Instance.",
    "fallback": "A request that went on with less than was wanted, for instance with text where "
    "a KV cache was asked for.",
    "kv_inject": "What became of a request's knowledge: its KV cache was in place in time.",
    "text_inject": "What became of a request's knowledge: its text was put into the prompt.",
    "lookup_failed": "A request went without its knowledge: the node could not be reached, or may "
    "not be asked.",
    "no_kv_ready_fallback_text": "KV was wanted and the node had none, so the text was taken.",
    "kv_inject_failed_fallback_text": "The KV cache could not be brought, or came to nothing, so "
    "the text was taken.",
    "no_knowledge_found": "The node knows none of the texts that a request names.",
    "accepting": "The agent's hint that a host has room. The Proxy shows hints and obeys none.",
    "degraded": "The agent's hint that the processors of a host are busy; the Instance gets "
    "requests as ever.",
    "rejecting": "The agent's hint that a host has hardly any memory left; the Instance gets "
    "requests as ever.",
    "ordered": "The release policy by which prepared requests go on in the order they came.",
    "text_bypass": "The release policy by which text does not wait for KV that is on its way.",
    "null": "Nobody knows. It is a dash on paper, an empty field in CSV and null in JSON; 0 is "
    "always a measurement.",
}
