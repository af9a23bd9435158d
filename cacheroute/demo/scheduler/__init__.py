"""A small counterpart of the published Scheduler, to try a Proxy under one.

`python -m cacheroute.demo.scheduler --kdn 127.0.0.1:9101` takes OpenAI requests on :7001 and
forwards each to one of the Proxies that registered on its control plane, :7002. A request with
`"RAG": true` takes along the ids of the knowledge that fits it best, found among the texts that
the knowledge nodes hold.

| Field of a request | Meaning                                                               |
|--------------------|-----------------------------------------------------------------------|
| `RAG`              | whether knowledge is wanted; left out, whether `knowledge_ids` is given |
| `Injection_type`   | `text` or `kvcache`; left out, `kvcache`                               |
| `knowledge_ids`    | the ids to use, instead of those that would be found                   |

What differs from the published one, each time because a user is better served: the status is
the Proxy's own and not a 200 sent before it was known; a client that leaves takes its request
along; temperature 0 stays 0; a conversation goes on as a whole and not as its last message;
Proxies take turns in the order of their ids; without any knowledge node everything but `RAG`
works; and a value that cannot be is refused with a sentence.

What a Request has no room for (tools, stop words, seeds) does not reach a Proxy, as published.
Pictures, more than one answer and streamed completions are refused instead of half done.
"""
