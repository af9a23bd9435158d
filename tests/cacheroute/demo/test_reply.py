from cacheroute.core.engine.run import Run, Sequence
from cacheroute.demo import tokens
from cacheroute.demo.answers import Answer
from cacheroute.demo.params import Params
from cacheroute.demo.reply import Ask, Reply

PROMPTS = (tokens.encode("x" * 40), tokens.encode("y" * 20))


def run(cached_tokens: int) -> Run:
    made = Run(Sequence(id="s", prompt_tokens=100, output_tokens=1), 0.0)
    made.cached_tokens = cached_tokens
    return made


def test_a_prompt_with_several_choices_counts_once() -> None:
    answers = tuple(Answer(pieces=("a", "b"), finish_reason="stop") for _ in range(4))
    ask = Ask(params=Params(choices=2), prompts=PROMPTS, answers=answers)
    reply = Reply(ask, reply_id="r", model="m", created_at_s=0)
    reply.runs = [run(8), run(8), run(4), run(4)]
    reply.choices[0].emitted = 2
    reply.choices[3].emitted = 1

    assert (reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens) == (15, 12, 3)
    assert [choice.finished for choice in reply.choices] == [True, False, False, False]


def test_without_answers_every_prompt_counts() -> None:
    reply = Reply(
        Ask(params=Params(), prompts=PROMPTS, answers=()), reply_id="r", model="m", created_at_s=0
    )
    reply.runs = [run(8), run(4)]
    assert (reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens) == (15, 12, 0)
