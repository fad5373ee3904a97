"""The sampling chain against known right values, at its edges and in its words."""

import json
import math
import time
from dataclasses import FrozenInstanceError, fields, replace
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest

from engine.sampling import (
    LLAMA_CPP_ORDER,
    ORDERS,
    TRANSFORMERS_ORDER,
    SamplingSettings,
    SettingsError,
    draw,
    entropy_bits,
    final_probabilities,
    run_chain,
    softmax,
)

CASES = json.loads((Path(__file__).parents[1] / "data/cases/sampling.json").read_text())["cases"]
BANNED = -math.inf
VOCABULARY = 49_152


def settings_of(case):
    """The settings of one recorded case; JSON has no integer keys."""
    given = dict(case["settings"])
    given["logit_bias"] = {int(key): bias for key, bias in given.get("logit_bias", {}).items()}
    return SamplingSettings(**given)


def random_logits(seed, size=VOCABULARY):
    return (np.random.default_rng(seed).standard_normal(size) * 3).astype(np.float32)


def kept_ids(stage):
    return np.flatnonzero(stage.kept).tolist()


@pytest.mark.parametrize("case", CASES, ids=[f"case{n}" for n in range(len(CASES))])
def test_recorded_case(case):
    last = run_chain(case["logits"], settings_of(case), case["context"])[-1]
    assert kept_ids(last) == case["kept"]
    np.testing.assert_allclose(last.probabilities, case["probabilities"], rtol=0, atol=2e-6)
    np.testing.assert_array_equal(
        final_probabilities(case["logits"], settings_of(case), case["context"]),
        softmax(last.logits),
    )


# --- the shape of a chain -------------------------------------------------------------------------


def test_every_step_is_off_by_default():
    logits = random_logits(1, 50)
    stages = run_chain(logits, SamplingSettings(), [3, 3])
    assert [stage.name for stage in stages] == ["logits", "softmax"]
    np.testing.assert_array_equal(stages[-1].logits, logits)
    assert stages[-1].survivors == 50
    assert stages[-1].mass_kept == 1.0
    np.testing.assert_allclose(stages[-1].probabilities.sum(), 1, atol=1e-6)


def test_steps_that_are_off_appear_on_request_and_change_nothing():
    stages = run_chain(random_logits(1, 50), SamplingSettings(top_k=4), include_off=True)
    assert [(stage.name, stage.active) for stage in stages] == [
        ("logits", True),
        ("repetition_penalty", False),
        ("count_penalties", False),
        ("logit_bias", False),
        ("temperature", False),
        ("top_k", True),
        ("top_p", False),
        ("min_p", False),
        ("typical", False),
        ("softmax", True),
    ]
    for stage in stages:
        if not stage.active:
            np.testing.assert_array_equal(stage.logits, stage.logits_before)
            assert stage.note == "Off."
            assert stage.mass_kept == 1.0


def test_each_stage_takes_in_what_the_one_before_gave_out():
    settings = SamplingSettings(temperature=0.8, top_k=10, top_p=0.9, min_p=0.05)
    stages = run_chain(random_logits(2, 100), settings)
    for before, after in pairwise(stages):
        assert after.logits_before is before.logits
        assert after.probabilities_before is before.probabilities
        assert after.entropy_bits_before == before.entropy_bits


def test_a_stage_says_what_it_did():
    # Probabilities 0.5, 0.3, 0.15, 0.05; top-p 0.85 keeps three of mass 0.95.
    logits = np.log([0.5, 0.3, 0.15, 0.05])
    stage = run_chain(logits, SamplingSettings(top_p=0.85))[1]
    assert stage.name == "top_p"
    assert stage.survivors == 3
    assert stage.mass_kept == pytest.approx(0.95, abs=1e-6)
    assert stage.cutoff == pytest.approx(0.15, abs=1e-6)
    assert stage.entropy_bits_before == pytest.approx(1.6477, abs=1e-4)
    assert stage.entropy_bits == pytest.approx(1.4330, abs=1e-4)
    np.testing.assert_allclose(
        stage.probabilities, [0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0], atol=1e-6
    )


@pytest.mark.parametrize(
    ("settings", "cutoff"),
    [
        ({"top_k": 2}, math.log(0.3)),
        ({"min_p": 0.4}, 0.2),
        ({"temperature": 2.0}, None),
        # Surprises 1, 1.74, 2.74, 4.32 bits around 1.648; the one nearest holds 0.3.
        ({"typical_p": 0.2}, 0.0892),
    ],
)
def test_cutoff_is_what_a_token_needed_to_stay(settings, cutoff):
    stage = run_chain(np.log([0.5, 0.3, 0.15, 0.05]), SamplingSettings(**settings))[1]
    assert stage.cutoff == (None if cutoff is None else pytest.approx(cutoff, abs=1e-4))


def test_entropy_of_a_stage_is_the_entropy_of_its_probabilities():
    settings = SamplingSettings(temperature=0.7, top_k=100, top_p=0.95, repetition_penalty=1.2)
    for stage in run_chain(random_logits(3), settings, range(50)):
        assert stage.entropy_bits == pytest.approx(entropy_bits(stage.probabilities), abs=2e-5)
        reference = stage.probabilities_before[stage.kept].sum(dtype=np.float64)
        assert stage.mass_kept == pytest.approx(reference, abs=2e-6)


def test_results_are_read_only_and_the_input_stays_as_it_was():
    logits = random_logits(4, 20)
    copy = logits.copy()
    stages = run_chain(logits, SamplingSettings(top_k=3, logit_bias={1: 2.0}), [2, 2])
    np.testing.assert_array_equal(logits, copy)
    logits[0] = 99.0  # still the caller's own
    assert stages[0].logits[0] == copy[0]
    for stage in stages:
        for name in ("logits", "probabilities", "kept", "logits_before", "probabilities_before"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(stage, name)[0] = 0
        with pytest.raises(FrozenInstanceError):
            stage.note = "other"


# --- order ----------------------------------------------------------------------------------------


def test_order_decides_whether_top_p_sees_the_temperature():
    logits = np.array([3.0, 2.0, 1.0])  # 0.665, 0.245, 0.090; at T = 0.5: 0.867, 0.117, 0.016
    settings = SamplingSettings(temperature=0.5, top_p=0.8)
    assert kept_ids(run_chain(logits, settings)[-1]) == [0]
    llama = replace(settings, order=LLAMA_CPP_ORDER)
    assert [stage.name for stage in run_chain(logits, llama)] == [
        "logits",
        "top_p",
        "temperature",
        "softmax",
    ]
    assert kept_ids(run_chain(logits, llama)[-1]) == [0, 1]


def test_presets_are_the_orders_of_their_sources():
    assert TRANSFORMERS_ORDER == ("temperature", "top_k", "top_p", "min_p", "typical")
    assert LLAMA_CPP_ORDER == ("top_k", "typical", "top_p", "min_p", "temperature")
    assert set(ORDERS.values()) == {TRANSFORMERS_ORDER, LLAMA_CPP_ORDER}


def test_every_order_runs_its_steps_in_that_order():
    values = {"temperature": 0.9, "top_k": 30, "top_p": 0.9, "min_p": 0.02, "typical_p": 0.9}
    logits = random_logits(5, 200)
    for order in permutations(TRANSFORMERS_ORDER):
        stages = run_chain(logits, SamplingSettings(**values, order=order))
        assert tuple(stage.name for stage in stages[1:-1]) == order
        assert stages[-1].survivors >= 1
        assert stages[-1].probabilities.sum() == pytest.approx(1, abs=1e-6)


# --- temperature 0 and ties -----------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_temperature_0_is_argmax_and_says_so(order):
    logits = random_logits(6)
    stages = run_chain(logits, SamplingSettings(temperature=0, top_p=0.9, order=order))
    stage = next(stage for stage in stages if stage.name == "temperature")
    assert kept_ids(stages[-1]) == [int(logits.argmax())]
    assert stages[-1].probabilities.max() == 1.0
    assert "argmax" in stage.note
    assert draw(stages[-1].probabilities, 0.999) == int(logits.argmax())


def test_ties():
    logits = np.array([1.0, 2.0, 2.0, 0.0, 2.0, 1.0], dtype=np.float32)

    def kept(**settings):
        return kept_ids(run_chain(logits, SamplingSettings(**settings))[-1])

    assert kept(temperature=0) == [1], "argmax: the lowest id"
    assert kept(top_k=1) == [1, 2, 4], "top-k: all that equal the k-th"
    assert kept(top_k=2) == [1, 2, 4]
    assert kept(top_k=4) == [0, 1, 2, 4, 5]
    assert kept(top_p=0.0) == [1], "top-p: as many as needed, lowest ids first"
    # Each of the three holds 0.264, each 1.0 holds 0.097.
    assert kept(top_p=0.5) == [1, 2]
    assert kept(top_p=0.75) == [1, 2, 4]
    assert kept(top_p=0.85) == [0, 1, 2, 4]
    assert kept(min_p=1.0) == [1, 2, 4], "min-p: by value"
    assert kept(typical_p=0.1) in ([0, 5], [1, 2, 4]), "typical: by value"


def test_ties_are_noted():
    logits = np.array([1.0, 2.0, 2.0, 2.0], dtype=np.float32)
    note = {
        name: run_chain(logits, SamplingSettings(**{name: value}))[1].note
        for name, value in {"temperature": 0, "top_k": 2, "top_p": 0.5}.items()
    }
    assert "3 tokens tie" in note["temperature"]
    assert "1 more tie" in note["top_k"]
    assert "1 more tie" in note["top_p"]


# --- edges ----------------------------------------------------------------------------------------

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
@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
@pytest.mark.parametrize("edge", EDGES.values(), ids=EDGES)
def test_no_nan_and_never_an_empty_set(edge, vector):
    allowed = vector > -np.inf
    for order in ORDERS.values():
        settings = SamplingSettings(**edge, order=order)
        for stage in run_chain(vector, settings, range(0, len(vector), 3)):
            assert not np.isnan(stage.logits).any()
            assert not (stage.logits == np.inf).any()
            assert np.isfinite(stage.probabilities).all()
            assert stage.probabilities.sum(dtype=np.float64) == pytest.approx(1, abs=1e-5)
            assert 1 <= stage.survivors == stage.kept.sum()
            assert not (stage.kept & ~allowed).any()
            assert 0 <= stage.mass_kept <= 1
            assert 0 <= stage.entropy_bits <= math.log2(len(vector)) + 1e-5
        for u in (0.0, 0.5, np.nextafter(1.0, 0.0)):
            assert stage.probabilities[draw(stage.probabilities, u)] > 0


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


# --- the draw -------------------------------------------------------------------------------------


def test_draw_walks_the_cumulative_distribution_in_id_order():
    probabilities = np.array([0.0, 0.25, 0.0, 0.5, 0.25, 0.0], dtype=np.float32)
    below_1 = float(np.nextafter(1.0, 0.0))
    table = {0.0: 1, 0.2499: 1, 0.25: 3, 0.5: 3, 0.7499: 3, 0.75: 4, below_1: 4}
    assert {u: draw(probabilities, u) for u in table} == table


@pytest.mark.parametrize("u", [-1e-9, 1.0, math.nan])
def test_draw_refuses_what_is_not_a_uniform(u):
    with pytest.raises(ValueError, match=r"u must be in \[0, 1\)"):
        draw(np.ones(2), u)


def test_draw_refuses_an_empty_distribution():
    with pytest.raises(ValueError, match="nothing to draw"):
        draw(np.zeros(3), 0.5)


def test_draw_has_the_given_distribution():
    probabilities = softmax(random_logits(10, 12))
    count = 20_000
    drawn = [draw(probabilities, u) for u in (np.arange(count) + 0.5) / count]
    shares = np.bincount(drawn, minlength=12) / count
    np.testing.assert_allclose(shares, probabilities, atol=1 / count)


def test_the_whole_chain_is_fast_enough_to_follow_a_slider():
    """Measured 4 ms for these steps on 49,152 logits; the limit leaves room for a busy machine."""
    logits = random_logits(11)
    settings = SamplingSettings(
        repetition_penalty=1.1, temperature=0.8, top_k=50, top_p=0.95, min_p=0.05
    )
    times = []
    for _ in range(15):
        start = time.thread_time()
        run_chain(logits, settings, range(256))
        times.append(time.thread_time() - start)
    assert min(times) < 0.02
