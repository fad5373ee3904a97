"""The sampling chain against known right values, at its edges and in its words."""

import math
import time
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise, permutations

import numpy as np
import pytest

from engine.basics.distribution import entropy_bits
from engine.sampling.chain import (
    LLAMA_CPP_ORDER,
    ORDERS,
    TRANSFORMERS_ORDER,
    SamplingSettings,
    draw,
    final_probabilities,
    run_chain,
    softmax,
)
from tests.engine.sampling.chains import CASES, kept_ids, random_logits


def settings_of(case):
    """The settings of one recorded case; JSON has no integer keys."""
    given = dict(case["settings"])
    given["logit_bias"] = {int(key): bias for key, bias in given.get("logit_bias", {}).items()}
    return SamplingSettings(**given)


def test_recorded_cases():
    wrong = []
    for number, case in enumerate(CASES):
        asked = (case["logits"], settings_of(case), case["context"])
        last, final = run_chain(*asked)[-1], final_probabilities(*asked)
        if kept_ids(last) != case["kept"]:
            wrong.append((number, case["settings"], kept_ids(last), case["kept"]))
        elif not np.allclose(last.probabilities, case["probabilities"], rtol=0, atol=2e-6):
            wrong.append((number, case["settings"], last.probabilities, case["probabilities"]))
        elif not np.allclose(final, softmax(last.logits), rtol=1e-6, atol=0):
            wrong.append((number, case["settings"], "final_probabilities differ"))
    assert len(CASES) > 70
    assert wrong == []


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
        ("logit_bias", False),
        ("repetition_penalty", False),
        ("count_penalties", False),
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
