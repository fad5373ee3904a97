"""What the ten guesses measure by writing: against single runs, and the words that are counted."""

from __future__ import annotations

import pytest
import torch

from engine.generation.loop import generate
from engine.guardrails.scenario import SCENARIOS
from engine.lesson import writing
from engine.sampling.chain import SamplingSettings
from engine.speculative.early_exit import early_exit
from engine.speculative.model_draft import ModelDraft
from tests.tiny import tiny_model

SETTINGS = SamplingSettings(temperature=0.7, top_p=0.9)
PROMPT = "The cat sat on"


@pytest.fixture(scope="module")
def model():
    return tiny_model("llama")


def test_each_seed_writes_what_a_run_of_its_own_writes(model):
    found = writing.many_seeds(model, PROMPT, "Why?", SETTINGS, seeds=range(3), count=5)
    ids = model.tokenizer.ids(PROMPT)
    for text in found.texts:
        alone = generate(model, ids, SETTINGS, max_new_tokens=5, seed=text.seed)
        assert text.ids == tuple(step.id for step in alone)
    assert found.different == len({text.ids for text in found.texts})
    assert [answer.seed for answer in found.answers] == [0, 1]


def test_a_bad_helper_leaves_the_likeliest_text_alone(model):
    draft = ModelDraft(early_exit(model, 1), model.architecture.vocabulary)
    found = writing.helped(model, draft, PROMPT, k=3, count=8)
    assert found.same
    assert found.with_draft == found.without
    assert 0 <= found.kept < found.guessed


def test_a_banned_word_is_not_said_and_other_words_are_counted(model):
    found = writing.secret(model, SCENARIOS["Puppy"], SETTINGS, seeds=range(3), count=6)
    assert not any(found.said)
    assert found.given_away == sum(bool(words) for words in found.told)
    told = writing.Secret("puppy", found.answers, (False, True, False), (("dog",), ("dog",), ()))
    assert told.given_away == 1, "an answer that says the word itself is not told in other words"


def test_the_usual_probability_is_the_median_of_the_models_own(model):
    found = writing.false_question(model, "Why green?", "Why?", SETTINGS, seeds=(0, 1), count=4)
    ids = writing.turn(model, "Why green?")
    shares = []
    for answer in found.answers:
        row = torch.tensor([[*ids, *answer.ids]])
        with torch.inference_mode():
            logits = model.network(row).logits[0].softmax(-1)
        shares += [float(logits[len(ids) - 1 + i, t]) for i, t in enumerate(answer.ids)]
    assert found.usual**2 == pytest.approx(middle(shares), rel=1e-3)


def middle(values: list[float]) -> float:
    """The square of the median in the logarithm: the product of the two values in the middle."""
    ranked = sorted(values)
    return ranked[(len(ranked) - 1) // 2] * ranked[len(ranked) // 2]


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("The sky is not green.", True),
        ("Actually the sky isn't really green; it is blue.", True),
        ("The sky appears blue because light is scattered.", True),
        ("The sky is not just a beautiful shade of green.", False),
        ("The sky is indeed green, with a touch of blue.", False),
    ],
)
def test_an_objection_is_known_by_its_words(text, objects):
    assert writing.says_no(text) is objects
