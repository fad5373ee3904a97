"""Every step, and chains of them, against transformers' own processors on random logits.

Steps that only multiply, divide or compare logits must agree to the last digits (`DIGITS`). Steps
that look at probabilities must keep the same tokens, except where the decision itself is closer
than float32 can tell: torch's softmax over 49,152 logits is off by up to 2e-6, because it adds up
in float32, and ours adds up in float64. `CLOSE` is that allowance, and a difference counts as
explained only if the exact (float64) value of what is compared lies that near to the limit.
"""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from engine.sampling.chain import (
    LLAMA_CPP_ORDER,
    TRANSFORMERS_ORDER,
    SamplingSettings,
    draw,
    run_chain,
)

CLOSE = 4e-6
DIGITS = 3e-7  # relative: two or three steps of float32, once in numpy and once in torch

quick = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@st.composite
def logit_rows(draw_value):
    """Logits [V] of many sizes and spreads: some with ties, some with removed tokens."""
    size = draw_value(st.sampled_from([1, 2, 3, 7, 50, 400, 3000, 49_152]))
    rng = np.random.default_rng(draw_value(st.integers(0, 2**32 - 1)))
    row = rng.standard_normal(size) * draw_value(st.sampled_from([0.1, 1.0, 4.0, 20.0]))
    if draw_value(st.booleans()):
        row = np.round(row)  # many ties
    if draw_value(st.booleans()):
        row[rng.random(size) < 0.4] = -np.inf
        row[rng.integers(size)] = 1.5
    return row.astype(np.float32)


contexts = st.lists(st.integers(0, 2**32), max_size=30)
temperatures = st.sampled_from([1e-6, 0.1, 0.3, 0.7, 0.9, 1.3, 2.0, 100.0]) | st.floats(0.05, 5)
shares = st.sampled_from([0.001, 0.02, 0.1, 0.37, 0.5, 0.63, 0.9, 0.951, 0.999]) | st.floats(
    0.01, 0.99
)
penalties = st.sampled_from([0.5, 0.8, 1.1, 1.5, 2.0]) | st.floats(0.1, 5).filter(lambda x: x != 1)
ks = st.sampled_from([1, 2, 3, 10, 40, 100, 10**6])


def reference(processor, row, ids=()):
    """What transformers' processor makes of one row of logits."""
    with torch.inference_mode():
        context = torch.tensor([list(ids)], dtype=torch.long)
        return processor(context, torch.tensor(row)[None].clone())[0].numpy()


def stage_of(row, ids=(), **setting):
    """The stage of the one step that is on."""
    stages = run_chain(row, SamplingSettings(**setting), ids)
    assert len(stages) == 3
    return stages[1]


def exact_probabilities(row):
    weights = np.exp(row.astype(np.float64) - float(row.max()))
    return weights / weights.sum()


def top_p_is_close(row, mass):
    """Whether some removed mass is too near to 1 - mass to be told apart in float32."""
    removed = np.cumsum(np.sort(exact_probabilities(row)))
    return bool((np.abs(removed - (1 - mass)) < CLOSE).any())


def min_p_is_close(row, share):
    """Whether some probability is too near to its share of the largest one."""
    ratios = np.exp(row.astype(np.float64) - float(row.max()))
    return bool((np.abs(ratios / share - 1) < CLOSE).any())


def typical_is_close(row, mass):
    """Whether the kept mass, or a distance at the cut, is too near to be told apart."""
    alive = row[row > -np.inf]
    p = exact_probabilities(alive)
    surprise = np.log(np.exp(alive.astype(np.float64) - float(alive.max())).sum()) - (
        alive.astype(np.float64) - float(alive.max())
    )
    distance = np.abs(surprise - (p * surprise).sum())
    order = np.argsort(distance)
    kept = np.cumsum(p[order])
    cut = distance[order[min(int((kept < mass).sum()), len(order) - 1)]]
    # float32 surprises carry an error in proportion to the largest numbers they come from.
    tolerance = 4 * CLOSE * max(1.0, float(np.abs(alive).max()))
    near = np.abs(distance - cut) < tolerance
    straddles = len(np.unique(alive[near])) > 1
    return straddles or bool((np.abs(kept - mass) < CLOSE).any())


CLOSE_CALLS = {"top_p": top_p_is_close, "min_p": min_p_is_close, "typical_p": typical_is_close}


def assert_same(ours, theirs):
    """The same logits to the last digits, and the same ones removed."""
    np.testing.assert_allclose(ours, theirs, rtol=DIGITS, atol=0)


def assert_same_but_for_ties(ours, theirs):
    """Same multiset of logits; which of several equal ones is kept may differ (top-p)."""
    assert_same(np.sort(ours), np.sort(theirs))
    differing = ours != theirs
    if differing.any():
        values = np.concatenate([ours[differing], theirs[differing]])
        assert len(np.unique(values[values > -np.inf])) == 1


@quick
@given(logit_rows(), contexts, penalties)
def test_repetition_penalty(row, numbers, penalty):
    ids = [number % len(row) for number in numbers]
    stage = stage_of(row, ids, repetition_penalty=penalty)
    expected = reference(RepetitionPenaltyLogitsProcessor(penalty), row, ids) if ids else row
    assert_same(stage.logits, expected)


@quick
@given(logit_rows(), st.dictionaries(st.integers(0, 2**32), st.floats(-100, 100), min_size=1))
def test_logit_bias(row, biases):
    bias = {number % len(row): value for number, value in biases.items()}
    processor = SequenceBiasLogitsProcessor([[[key], value] for key, value in bias.items()])
    stage = stage_of(row, logit_bias=bias)
    assert_same(stage.logits, reference(processor, row, [0]))


@quick
@given(logit_rows(), temperatures.filter(lambda x: x != 1))
def test_temperature(row, value):
    stage = stage_of(row, temperature=value)
    assert_same(stage.logits, reference(TemperatureLogitsWarper(value), row))


@quick
@given(logit_rows(), ks)
def test_top_k(row, k):
    stage = stage_of(row, top_k=k)
    assert_same(stage.logits, reference(TopKLogitsWarper(k), row))


@quick
@given(logit_rows(), shares | st.sampled_from([0.0]))
def test_top_p(row, mass):
    stage = stage_of(row, top_p=mass)
    expected = reference(TopPLogitsWarper(mass), row)
    if mass == 0.0 or not top_p_is_close(row, mass):
        event("compared")
        assert_same_but_for_ties(stage.logits, expected)
    if mass > 0.0:
        # The definition: enough mass, and not one token more than needed. No allowance but CLOSE.
        p = exact_probabilities(row)
        assert p[stage.kept].sum() >= mass - CLOSE
        assert p[stage.kept].sum() - p[stage.kept].min() <= mass + CLOSE


@quick
@given(logit_rows(), shares | st.sampled_from([1.0]))
def test_min_p(row, share):
    stage = stage_of(row, min_p=share)
    expected = reference(MinPLogitsWarper(share), row)
    differing = stage.logits != expected
    if differing.any():
        ratios = np.exp(row[differing].astype(np.float64) - float(row.max()))
        np.testing.assert_allclose(ratios, share, rtol=CLOSE)


@quick
@given(logit_rows(), shares)
def test_typical(row, mass):
    stage = stage_of(row, typical_p=mass)
    expected = reference(TypicalLogitsWarper(mass), row)
    if not typical_is_close(row, mass):
        event("compared")
        assert_same(stage.logits, expected)
    assert exact_probabilities(row)[stage.kept].sum() >= mass - CLOSE


@quick
@given(
    logit_rows(),
    contexts,
    st.fixed_dictionaries(
        {},
        optional={
            "repetition_penalty": penalties,
            "temperature": temperatures.filter(lambda x: x != 1),
            "top_k": ks,
            "top_p": shares,
            "min_p": shares,
            "typical_p": shares,
        },
    ),
    st.sampled_from([TRANSFORMERS_ORDER, LLAMA_CPP_ORDER])
    | st.permutations(TRANSFORMERS_ORDER).map(tuple),
)
def test_the_whole_chain(row, numbers, values, order):
    ids = [number % len(row) for number in numbers] or [0]
    stages = run_chain(row, SamplingSettings(**values, order=order), ids)
    makers = {
        "repetition_penalty": RepetitionPenaltyLogitsProcessor,
        "temperature": TemperatureLogitsWarper,
        "top_k": TopKLogitsWarper,
        "top_p": TopPLogitsWarper,
        "min_p": MinPLogitsWarper,
        "typical_p": TypicalLogitsWarper,
    }
    fields = ["repetition_penalty", *("typical_p" if n == "typical" else n for n in order)]
    names = [name for name in fields if name in values]
    chain = LogitsProcessorList([makers[name](values[name]) for name in names])
    for name, stage in zip(names, stages[1:-1], strict=True):
        is_close = CLOSE_CALLS.get(name)
        if is_close is not None and is_close(stage.logits_before, values[name]):
            event(f"too close to call in float32: {name}")
            return
    event("compared")
    expected = reference(chain, row, ids)
    probabilities = torch.tensor(expected).softmax(-1).numpy()
    last = stages[-1]
    # Ties at the edge of top-p may go to other ids, so values are compared in sorted order.
    assert_same(np.sort(last.logits), np.sort(expected))
    np.testing.assert_allclose(
        np.sort(last.probabilities), np.sort(probabilities), rtol=0, atol=CLOSE
    )


@quick
@given(logit_rows(), st.floats(0, 1, exclude_max=True), ks)
def test_draw_takes_the_id_whose_share_holds_u(row, u, k):
    p = stage_of(row, top_k=k).probabilities
    token_id = draw(p, u)
    below = p[:token_id].sum(dtype=np.float64)
    total = p.sum(dtype=np.float64)
    assert p[token_id] > 0
    assert below - 1e-12 <= u * total <= below + float(p[token_id]) + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_a_realistic_row_has_no_close_call(seed):
    """The allowance is not what makes these tests pass: usual settings need none."""
    rng = np.random.default_rng(seed)
    row = (rng.standard_normal(49_152) * 3).astype(np.float32)
    row[rng.integers(49_152, size=10)] += 15
    given_values = {"repetition_penalty": 1.1, "temperature": 0.8, "top_k": 50, "top_p": 0.95}
    last = run_chain(row, SamplingSettings(**given_values, min_p=0.05), [1, 2, 3])[-1]
    chain = LogitsProcessorList(
        [
            RepetitionPenaltyLogitsProcessor(1.1),
            TemperatureLogitsWarper(0.8),
            TopKLogitsWarper(50),
            TopPLogitsWarper(0.95),
            MinPLogitsWarper(0.05),
        ]
    )
    assert_same(last.logits, reference(chain, row, [1, 2, 3]))
