"""The logit bias comes before the penalties: as in transformers' `generate` and in llama.cpp."""

import numpy as np
import pytest
import torch
from transformers import (
    LogitsProcessorList,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
)

from engine.generation.loop import generate
from engine.sampling.chain import ORDERS, SamplingSettings, final_probabilities, run_chain
from tests.engine.runs import ids_of
from tests.tiny import FAMILIES

BY_HAND = [
    # (logits, seen, penalty, bias, the token that wins)
    ([1, 3.4, 0], [0], 2.0, {0: 4}, 1),  # (1 + 4) / 2 = 2.5 < 3.4
    ([1, 2.4, 0], [0], 2.0, {0: 4}, 0),  # 2.5 > 2.4
    ([-1, 1.4, 0], [0], 2.0, {0: 4}, 0),  # the bias lifts it above 0, so it is divided: 1.5 > 1.4
    ([3, -1.5, -9], [0, 1, 2], 2.0, {0: -4}, 0),  # (3 − 4) · 2 = −2 > −1.5 · 2 = −3
    ([3, -0.9, -9], [0, 1], 2.0, {0: -4}, 1),  # −2 < −1.8
    ([1, 3.4, 0], [0], 0.5, {0: 1}, 0),  # strengthened: (1 + 1) / 0.5 = 4 > 3.4
]


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize(("logits", "seen", "penalty", "bias", "winner"), BY_HAND)
def test_a_seen_token_is_weakened_with_its_bias(order, logits, seen, penalty, bias, winner):
    settings = SamplingSettings(
        temperature=0, repetition_penalty=penalty, logit_bias=bias, order=order
    )
    stages = run_chain(logits, settings, seen, include_off=True)
    assert [stage.name for stage in stages[1:4]] == [
        "logit_bias",
        "repetition_penalty",
        "count_penalties",
    ]
    assert np.flatnonzero(stages[-1].kept).tolist() == [winner]


@pytest.mark.parametrize("seed", range(6))
def test_both_together_are_transformers_two_processors(seed):
    rng = np.random.default_rng(seed)
    row = (rng.standard_normal(120) * 3).astype(np.float32)
    seen = rng.integers(0, 120, 40).tolist()
    bias = {int(i): float(rng.uniform(-8, 8)) for i in rng.choice(120, 30, replace=False)}
    penalty = float(rng.choice([0.5, 1.3, 2.0]))
    chain = LogitsProcessorList(
        [
            SequenceBiasLogitsProcessor([[[i], value] for i, value in bias.items()]),
            RepetitionPenaltyLogitsProcessor(penalty),
        ]
    )
    expected = chain(torch.tensor([seen]), torch.tensor(row)[None])[0].numpy()
    settings = SamplingSettings(repetition_penalty=penalty, logit_bias=bias)
    np.testing.assert_array_equal(run_chain(row, settings, seen)[-1].logits, expected)


def test_a_ban_stays_a_ban_under_every_penalty():
    for penalty in (0.5, 2.0):
        settings = SamplingSettings(
            logit_bias={0: -np.inf},
            repetition_penalty=penalty,
            presence_penalty=-2,
            frequency_penalty=-2,
        )
        assert final_probabilities([9.0, 1.0, 0.0], settings, [0, 0, 1])[0] == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loop_writes_what_generate_writes(tiny_model, family):
    """Greedy, with biases on tokens that come again and again, so that both steps meet."""
    model = tiny_model(family)
    ids = ids_of(model, "The cat sat on the mat. The")
    plain = generate(model, ids, SamplingSettings(temperature=0), max_new_tokens=6, seed=0)
    often = {ids[0], ids[-1], *(step.id for step in plain)} - model.stop_ids
    bias = dict.fromkeys(sorted(often), 1.5)
    prompt = torch.tensor([ids])
    expected = model.network.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        max_new_tokens=16,
        sequence_bias=[[[token_id], value] for token_id, value in bias.items()],
        repetition_penalty=1.4,
    )[0, len(ids) :].tolist()
    settings = SamplingSettings(temperature=0, logit_bias=bias, repetition_penalty=1.4)
    steps = generate(model, ids, settings, max_new_tokens=16, seed=0)
    assert [step.id for step in steps] == expected
