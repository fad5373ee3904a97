"""One fact asked in several ways, against the model's own pass and greedy text."""

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.generation.asking import Way, ask
from engine.generation.loop import generate
from engine.sampling.chain import SamplingSettings


def probabilities(model, ids):
    with torch.no_grad():
        logits = model.network(input_ids=torch.tensor([list(ids)])).logits[0, -1]
    return torch.softmax(logits.double(), -1).numpy()


def greedy(model, ids, count):
    return [
        step.id
        for step in generate(
            model, ids, SamplingSettings(temperature=0), max_new_tokens=count, seed=0
        )
        if step.id not in model.stop_ids
    ]


@pytest.mark.parametrize("chat", [False, True])
def test_the_answers_are_compared_where_the_text_says_one(tiny_model, chat):
    model = tiny_model("llama")
    tokenizer = model.tokenizer
    text = "The cat sat on the"
    ids = (
        tokenizer.chat([{"role": "user", "content": text}])
        if chat
        else tokenizer.ids(text, add_bos=True)
    )
    written = greedy(model, ids, 6)
    # In a chat it is where the text itself says an answer: here its first token that is whole text
    # and is cut as such.
    whole = [i for i in written if tokenizer.ids(tokenizer.decode([i])) == [i]]
    place = written.index(whole[0]) if chat else 0
    answers = (tokenizer.decode(whole[:1]), " the") if chat else (" cat", " dog")
    (found,) = ask(model, [Way(text, answers, chat=chat)], tokens=6)
    shares = probabilities(model, [*ids, *written[:place]])
    expected = [shares[tokenizer.after(text, answer)[0].id] for answer in answers]
    np.testing.assert_allclose(found.shares, expected, atol=1e-6)
    assert found.before == tokenizer.decode(written[:place])


def test_an_answer_that_never_leads_in_a_chat_has_no_place(tiny_model):
    model = tiny_model("llama")
    ids = model.tokenizer.chat([{"role": "user", "content": "The cat"}])
    written = greedy(model, ids, 3)
    other = next(
        i
        for i in range(300, 384)
        if i not in written and model.tokenizer.bytes_of(i).startswith(b" ")
    )
    answer = model.tokenizer.bytes_of(other).decode()
    (found,) = ask(model, [Way("The cat", (answer,), chat=True)], tokens=3)
    assert found.shares == ()
    assert found.before == model.tokenizer.decode(written)


def test_a_model_without_a_chat_refuses(tiny_model, monkeypatch):
    model = tiny_model("gpt2")
    monkeypatch.setattr(type(model.tokenizer), "has_chat", property(lambda self: False))
    with pytest.raises(EngineError, match="no chat template"):
        ask(model, [Way("Hi", (" a",), chat=True)])


def test_the_default_model_answers_by_the_way_it_is_asked(real_model):
    answers = (" Canberra", " Sydney")
    plain, question, turn = ask(
        real_model,
        [
            Way("The capital of Australia is", answers),
            Way("What is the capital of Australia?", answers, chat=True),
            Way("The capital of Australia is", answers, chat=True),
        ],
    )
    assert [found.said for found in (plain, question, turn)] == [" Sydney", " Canberra", " Sydney"]
    # Measured with a forward pass of its own (numpy, the same weights).
    assert plain.shares == pytest.approx((0.34, 0.36), abs=0.01)
    assert question.shares == pytest.approx((0.66, 0.31), abs=0.01)
