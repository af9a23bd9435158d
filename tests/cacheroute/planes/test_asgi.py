"""Refusals without a framework."""

from cacheroute.planes.asgi import Message, header, refuse


def test_a_header_is_found_by_its_lower_case_name() -> None:
    scope = {"headers": [(b"a", b"1"), (b"b", b"2"), (b"a", b"3")]}
    assert header(scope, b"a") == b"1"
    assert header(scope, b"c") is None


async def test_a_refusal_is_one_json_answer() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await refuse(send, 403, "forbidden", "Not from “here”.", [(b"x-more", b"1")])
    start, body = sent
    assert start["status"] == 403
    assert (b"content-length", str(len(body["body"])).encode()) in start["headers"]
    assert start["headers"][-1] == (b"x-more", b"1")
    assert body["body"].decode() == '{"error":"forbidden","detail":"Not from “here”."}'
