"""The sampling chain at its edges: extreme numbers, empty contexts, and what is refused."""

import itertools
import math
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from engine.sampling.chain import (
    LLAMA_CPP_ORDER,
    ORDERS,
    TRANSFORMERS_ORDER,
    SamplingSettings,
    SettingsError,
    draw,
    final_probabilities,
    run_chain,
    softmax,
)
from tests.engine.sampling.chains import BANNED, kept_ids, random_logits

EDGES = {
    "coldest": {"temperature": 1e-6},
    "tiny": {"temperature": 1e-40},
    "smallest": {"temperature": 5e-324},
    "hottest": {"temperature": 1000},
    "top_p 0": {"top_p": 0},
    "top_p almost 0": {"top_p": 1e-12},
    "top_p almost 1": {"top_p": 1 - 1e-9},
    "min_p 1": {"min_p": 1},
    "min_p almost 0": {"min_p": 1e-300},
    "top_k above the vocabulary": {"top_k": 10**9},
    "typical almost 0": {"typical_p": 1e-12},
    "typical almost 1": {"typical_p": 1 - 1e-9},
    "penalty almost 0": {"repetition_penalty": 1e-300},
    "penalty 1000": {"repetition_penalty": 1000},
    "everything": {
        "temperature": 1e-6,
        "top_k": 3,
        "top_p": 0.5,
        "min_p": 0.5,
        "typical_p": 0.5,
        "repetition_penalty": 0.1,
    },
}
VECTORS = {
    "random": random_logits(7, 1000),
    "flat": np.zeros(1000, np.float32),
    "one": np.ones(1, np.float32),
    "mostly banned": np.where(np.arange(1000) % 7 == 0, random_logits(8, 1000), -np.inf),
    "one left": np.where(np.arange(1000) == 77, np.float32(-5), np.float32(-np.inf)),
    "huge": np.linspace(-3e38, 3e38, 1000, dtype=np.float32),
    "tiny": np.linspace(-1e-40, 1e-40, 1000, dtype=np.float32),
}


@pytest.mark.filterwarnings("error")
def test_no_nan_and_never_an_empty_set():
    wrong = []
    for edge, name, order in itertools.product(EDGES, VECTORS, ORDERS):
        vector, settings = VECTORS[name], SamplingSettings(**EDGES[edge], order=ORDERS[order])
        for stage in run_chain(vector, settings, range(0, len(vector), 3)):
            wrong += [(edge, name, order, stage.name, fault) for fault in faults(stage, vector)]
        for u in (0.0, 0.5, np.nextafter(1.0, 0.0)):
            if not stage.probabilities[draw(stage.probabilities, u)] > 0:
                wrong.append((edge, name, order, u, "an impossible token is drawn"))
    assert wrong == []


def faults(stage, vector):
    """What no stage may have, whatever the settings."""
    rules = {
        "a logit is nan": not np.isnan(stage.logits).any(),
        "a logit is inf": not (stage.logits == np.inf).any(),
        "a probability is not finite": np.isfinite(stage.probabilities).all(),
        "the sum is not 1": abs(stage.probabilities.sum(dtype=np.float64) - 1) <= 1e-5,
        "nothing is kept, or miscounted": 1 <= stage.survivors == stage.kept.sum(),
        "a banned token is kept": not (stage.kept & ~(vector > -np.inf)).any(),
        "the kept mass is no share": 0 <= stage.mass_kept <= 1,
        "the entropy is out of range": 0 <= stage.entropy_bits <= math.log2(len(vector)) + 1e-5,
    }
    return [fault for fault, holds in rules.items() if not holds]


def test_coldest_temperature_leaves_the_likeliest_token():
    logits = random_logits(9)
    assert final_probabilities(logits, SamplingSettings(temperature=1e-6)).argmax() == (
        logits.argmax()
    )


def test_top_k_above_the_vocabulary_says_so():
    stage = run_chain(np.arange(5.0), SamplingSettings(top_k=9))[1]
    assert stage.survivors == 5
    assert "nothing to cut" in stage.note


def test_penalty_below_1_strengthens():
    logits = np.array([2.0, -2.0, 0.0], dtype=np.float32)
    stage = run_chain(logits, SamplingSettings(repetition_penalty=0.5), [0, 1, 2, 0])[1]
    np.testing.assert_array_equal(stage.logits, [4.0, -1.0, 0.0])


def test_penalties_look_at_an_empty_context_and_change_nothing():
    settings = SamplingSettings(repetition_penalty=2, presence_penalty=1, frequency_penalty=1)
    np.testing.assert_array_equal(run_chain(np.arange(4.0), settings)[-1].logits, np.arange(4.0))


def test_presence_counts_once_and_frequency_each_time():
    settings = SamplingSettings(presence_penalty=0.5, frequency_penalty=0.25)
    stage = run_chain(np.zeros(4), settings, [1, 3, 3, 3])[1]
    np.testing.assert_array_equal(stage.logits, [0, -0.75, 0, -1.25])


def test_typical_can_remove_the_likeliest_token():
    # The average surprise is 1.78 bits; the likeliest token's is 0.92, the second's 1.51, the
    # others' 6.38: the second lies closest.
    probabilities = np.array([0.53, 0.35] + [0.012] * 10)
    last = run_chain(np.log(probabilities), SamplingSettings(typical_p=0.2))[-1]
    assert kept_ids(last) == [1]


def test_banned_tokens_are_noted_and_never_drawn():
    stage = run_chain(np.zeros(3), SamplingSettings(logit_bias={0: BANNED, 2: BANNED}))[1]
    assert kept_ids(stage) == [1]
    assert stage.note == "2 banned."
    assert stage.mass_kept == pytest.approx(1 / 3)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"temperature": -0.1}, "temperature must be from 0 to 1000, but is -0.1"),
        ({"temperature": math.nan}, "temperature must be from 0 to 1000, but is nan"),
        ({"temperature": math.inf}, "temperature must be from 0 to 1000, but is inf"),
        ({"temperature": "warm"}, "temperature must be a number, but is 'warm'"),
        ({"temperature": True}, "temperature must be a number, but is True"),
        ({"top_p": 1.01}, "top_p must be from 0 to 1, but is 1.01"),
        ({"min_p": -1e-9}, "min_p must be from 0 to 1"),
        ({"typical_p": 0}, "typical_p must be above 0 and at most 1, but is 0"),
        ({"repetition_penalty": 0}, "repetition_penalty must be above 0 and at most 1000"),
        ({"presence_penalty": -1001}, "presence_penalty must be from -1000 to 1000"),
        ({"frequency_penalty": None}, "frequency_penalty must be a number, but is None"),
        ({"top_k": -1}, "top_k must be 0 or more, but is -1"),
        ({"top_k": 2.5}, "top_k must be a whole number, but is 2.5"),
        ({"logit_bias": {-3: 1.0}}, "A token id in logit_bias must be 0 or more, but is -3"),
        ({"logit_bias": {"5": 1.0}}, "A token id in logit_bias must be a whole number"),
        ({"logit_bias": {5: math.inf}}, "The bias of token 5 must be from -1e+06 to 1e+06"),
        ({"logit_bias": {5: math.nan}}, "or -inf to ban it, but is nan"),
        ({"logit_bias": {5: "up"}}, "The bias of token 5 must be a number, but is 'up'"),
        ({"logit_bias": [(5, 1.0), (5, 2.0)]}, "logit_bias names token 5 twice"),
        ({"logit_bias": 7}, "logit_bias must map token ids to numbers, but is 7"),
        ({"order": ("temperature",)}, "order must name each of temperature, top_k"),
        ({"order": (*TRANSFORMERS_ORDER, "top_k")}, "order must name each of"),
        ({"order": "temperature"}, "order must name each of"),
    ],
)
def test_bad_settings_are_named_with_the_way_out(bad, words):
    with pytest.raises(SettingsError) as error:
        SamplingSettings(**bad)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("logits", "settings", "context", "words"),
    [
        (np.zeros(4), {"logit_bias": {4: 1.0}}, (), "logit_bias names token 4, but this model's"),
        (np.zeros(4), {"logit_bias": dict.fromkeys(range(3, 12), 1)}, (), "4, 5, 6, 7, 8 and 3 mo"),
        (np.zeros(2), {"logit_bias": {0: BANNED, 1: BANNED}}, (), "bans every token"),
        (np.zeros(4), {}, [0, 4], "The context holds token 4, but ids go from 0 to 3"),
        (np.zeros(4), {}, [-1], "The context holds token -1"),
        (np.array([0, np.nan]), {}, (), "The logit of token 1 is nan"),
        (np.array([np.inf, 0]), {}, (), "The logit of token 0 is inf"),
        (np.full(3, -np.inf), {}, (), "Every logit is -inf"),
        (np.zeros((1, 3)), {}, (), "one row [V]"),
        (np.zeros(0), {}, (), "one row [V]"),
    ],
)
def test_what_cannot_be_sampled_is_refused(logits, settings, context, words):
    for run in (run_chain, final_probabilities):
        with pytest.raises(SettingsError) as error:
            run(logits, SamplingSettings(**settings), context)
        assert words in str(error.value)


def test_settings_are_plain_frozen_and_hashable():
    one = SamplingSettings(temperature=1, logit_bias={7: 1, 3: -math.inf})
    two = SamplingSettings(temperature=np.float32(1), logit_bias=((3, BANNED), (7, 1.0)))
    assert one == two
    assert hash(one) == hash(two)
    assert one.bias == ((3, BANNED), (7, 1.0))
    assert SamplingSettings(order=list(LLAMA_CPP_ORDER)).order == LLAMA_CPP_ORDER
    assert replace(one, top_k=np.int64(4)).top_k == 4
    assert SamplingSettings(logit_bias={}) == SamplingSettings()
    for field in fields(one):
        hash(getattr(one, field.name))
    with pytest.raises(FrozenInstanceError):
        one.top_k = 3


# --- windows and definitions ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "seen"), [(0, {1, 2, 3}), (1, {3}), (2, {2, 3}), (3, {1, 2, 3}), (99, {1, 2, 3})]
)
def test_the_penalties_look_at_the_last_tokens_of_their_window(window, seen):
    settings = SamplingSettings(repetition_penalty=2.0, penalty_window=window)
    stage = run_chain(np.ones(5), settings, [1, 2, 3])[1]
    assert set(np.flatnonzero(stage.logits != 1.0).tolist()) == seen
    settings = SamplingSettings(frequency_penalty=1.0, penalty_window=window)
    stage = run_chain(np.zeros(5), settings, [1, 2, 3])[1]
    assert set(np.flatnonzero(stage.logits).tolist()) == seen


@pytest.mark.parametrize("seed", range(3))
def test_presence_and_frequency_are_their_definition(seed):
    rng = np.random.default_rng(seed)
    logits = random_logits(seed, 60)
    context = rng.integers(0, 60, size=40).tolist()
    presence, frequency = rng.uniform(-2, 2, size=2).tolist()
    stage = run_chain(
        logits, SamplingSettings(presence_penalty=presence, frequency_penalty=frequency), context
    )[1]
    for token_id, logit in enumerate(logits):
        count = context.count(token_id)
        expected = logit - count * frequency - (count > 0) * presence
        assert stage.logits[token_id] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("mass", [0.2, 0.5, 0.9])
def test_typical_is_its_definition(mass):
    logits = random_logits(12, 200)
    p = softmax(logits).astype(np.float64)
    surprise = -np.log2(p)
    distance = np.abs(surprise - (p * surprise).sum())
    order = np.argsort(distance)
    needed = int(np.searchsorted(np.cumsum(p[order]), mass)) + 1
    stage = run_chain(logits, SamplingSettings(typical_p=mass))[1]
    assert kept_ids(stage) == sorted(order[:needed].tolist())
    assert stage.cutoff == pytest.approx(distance[order[needed - 1]], abs=1e-4)


@pytest.mark.parametrize("temperature", [0.01, 0.05, 0.1, 0.3, 1.0])
def test_what_can_be_drawn_has_a_probability_above_0(temperature):
    logits = random_logits(13, 3000)
    last = run_chain(logits, SamplingSettings(temperature=temperature))[-1]
    assert last.survivors == 3000
    gaps = (logits.astype(np.float64) - float(logits.max())) / temperature
    # float32 has no number above 0 below 2 ** -149, e to the power of -103.3.
    assert abs(last.drawable - int((gaps > -103.3).sum())) <= int((np.abs(gaps + 103.3) < 20).sum())
    assert last.drawable == int((last.probabilities > 0).sum())
    ends = [draw(last.probabilities, u) for u in (0.0, 0.5, float(np.nextafter(1, 0)))]
    assert all(last.probabilities[i] > 0 for i in ends)
