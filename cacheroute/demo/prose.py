"""Words for answers that no model wrote: the same prompt always gets the same ones."""

_OPENING = "This is a modelled answer: no model ran. "

_SENTENCES = (
    "A prefix that was computed once need not be computed again. ",
    "Blocks that nobody holds stay until their room is needed. ",
    "Long prompts are cut into chunks so that others can go on. ",
    "Every step serves those who are already answering first. ",
    "The first token tells how long the prompt had to wait. ",
    "What follows tells how many others share the same step. ",
    "A request that leaves gives its blocks back at once. ",
    "Two Instances with the same weights answer alike. ",
    "The nearest cache is not always the shortest queue. ",
    "A good router counts seconds of work, not requests. ",
    "Only whole blocks can be shared between two prompts. ",
    "The beginning of a conversation is worth more than its end. ",
    "An empty queue hides nothing, and a full one hides a lot. ",
    "What is not known should not be counted as zero. ",
    "An answer that was cut must never look like a whole one. ",
    "The second turn of a chat begins where the first one ended. ",
    "Some documents are read by everybody and some by one. ",
    "Memory that holds a prefix cannot hold an answer. ",
    "A probe that succeeds late is still a warning. ",
    "Fair queues are short queues seen from the back. ",
    "Half of the work of a fleet is deciding where not to go. ",
    "What is measured on a quiet machine is only half the truth. ",
    "The clock that people read is not the one to wait by. ",
)
_COUNT = len(_SENTENCES)
"""A prime: every stride below it visits each sentence once."""


def sentences(seed: int) -> str:
    """Return a short answer that ends by itself."""
    walk = _walk(seed)
    return (_OPENING + "".join(walk[: 2 + seed % 5])).rstrip()


def filling(seed: int, chars: int) -> str:
    """Return exactly this many characters."""
    round_trip = "".join(_walk(seed))
    times = max(0, chars - len(_OPENING)) // len(round_trip) + 1
    return (_OPENING + round_trip * times)[:chars]


def _walk(seed: int) -> list[str]:
    start, stride = seed % _COUNT, 1 + seed // _COUNT % (_COUNT - 1)
    return [_SENTENCES[(start + n * stride) % _COUNT] for n in range(_COUNT)]
