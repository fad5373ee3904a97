"""The events of a stream, as a client reads them."""

import json
from dataclasses import replace

import pytest

from engine.generation.loop import generate
from engine.generation.server_events import server_events
from engine.sampling.chain import SamplingSettings


@pytest.fixture
def steps(tiny_model):
    model = tiny_model("llama")
    ids = [token.id for token in model.tokenizer.encode("The cat")]
    return list(generate(model, ids, SamplingSettings(temperature=1.5), max_new_tokens=25, seed=3))


def read(events):
    """Read the wire as a client does: split at empty lines, take what follows `data: `."""
    blocks = "".join(event.wire for event in events).split("\n\n")
    assert blocks.pop() == ""
    assert all(block.startswith("data: ") and "\n" not in block for block in blocks)
    return [block.removeprefix("data: ") for block in blocks]


def test_the_texts_joined_are_the_answer(steps):
    *chunks, done = read(server_events(steps, model="tiny", chat=False))
    assert done == "[DONE]"
    bodies = [json.loads(chunk)["choices"][0] for chunk in chunks]
    assert "".join(body["text"] for body in bodies) == "".join(step.text for step in steps)
    assert [body["finish_reason"] for body in bodies] == [None] * (len(bodies) - 1) + ["length"]


def test_a_chat_answer_begins_with_its_role(steps):
    *chunks, _ = read(server_events(steps, model="tiny", chat=True))
    deltas = [json.loads(chunk)["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant"}
    assert deltas[-1] == {}
    text = "".join(delta.get("content", "") for delta in deltas)
    assert text == "".join(step.text for step in steps)


def test_a_token_without_text_sends_nothing(steps):
    silent = [replace(step, text="") for step in steps[:3]]
    assert server_events(silent, model="tiny", chat=False) == ()


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("end token", "stop"), ("stop string", "stop"), ("context limit", "length")],
)
def test_the_reason_in_the_words_of_the_api(steps, reason, finish):
    ended = [*steps[:-1], replace(steps[-1], stop_reason=reason)]
    *_, last, _ = read(server_events(ended, model="tiny", chat=False))
    assert json.loads(last)["choices"][0]["finish_reason"] == finish


def test_the_client_of_a_cancelled_run_hears_no_end(steps):
    cut = [*steps[:4], replace(steps[4], stop_reason="cancelled")]
    assert all("[DONE]" not in event.wire for event in server_events(cut, model="t", chat=False))


def test_an_event_is_sent_when_its_token_is_there(steps):
    events = server_events(steps, model="tiny", chat=False)
    clock = [sum(step.milliseconds for step in steps[: event.tokens]) for event in events]
    assert [event.milliseconds for event in events] == pytest.approx(clock)
