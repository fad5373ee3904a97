"""The overview's facts against their trace, and the recording against the model."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from components.overview.recorded import SEED, SETTINGS, recorded_run
from engine.generation.loop import generate
from engine.generation.random_numbers import uniforms
from engine.interpret.lens import lens
from engine.overview.facts import Overview
from engine.overview.heads import mattering_head
from engine.overview.summary import DEPTHS, summarise
from engine.sampling.chain import SamplingSettings, draw, run_chain
from engine.tracing.trace import trace
from tests.near import LOGITS, SHARES, assert_best, assert_drawn, assert_ranking, assert_same_text
from tests.tiny import FAMILIES

PROMPT = "Why is the sky blue? Why is the sea"


@pytest.fixture
def passed(tiny_model):
    def run(family="llama", text=PROMPT):
        model = tiny_model(family)
        return model, trace(model, [token.id for token in model.tokenizer.encode(text)])

    return run


@pytest.mark.parametrize("family", FAMILIES)
def test_facts_agree_with_the_trace(passed, family):
    model, seen = passed(family)
    settings = SamplingSettings(temperature=0.8, top_p=0.9)
    facts = summarise(model, seen, settings, 0.4)
    count = len(seen.ids)

    assert [token.id for token in facts.tokens] == list(seen.ids)
    assert facts.text == PROMPT
    assert facts.generated == ""
    assert facts.turns == ()
    assert_best(facts.head.removal.id, seen.logits)
    norms = np.linalg.norm(seen.resid_post[-1][-1])
    assert facts.residual_norms[-1] == pytest.approx(float(norms), abs=2e-3)
    assert len(facts.residual_norms) == seen.architecture.layers + 1
    assert facts.cache.bytes == 4 * (seen.k[:, :, :count].size + seen.v[:, :, :count].size)
    assert facts.lens[-1].layers == seen.architecture.layers
    assert_best(facts.lens[-1].id, seen.logits)
    assert_best(facts.candidates[0].id, seen.logits)
    for fact in facts.lens:
        assert_read(fact.id, seen, fact.layers)


def assert_read(token_id, seen, layers):
    """The lens reads this token best after so many layers, or nearly so."""
    every = lens(seen, layers, -1, top=seen.architecture.vocabulary)
    assert every.logits[list(every.ids).index(token_id)] >= every.logits[0] - LOGITS


@pytest.mark.parametrize("u", [0.0, 0.31, 0.77, 0.999999])
def test_the_bar_is_the_draw(passed, u):
    model, seen = passed()
    settings = SamplingSettings(temperature=1.3, top_k=40)
    sampling = summarise(model, seen, settings, u).sampling
    last = run_chain(seen.logits, settings, seen.ids)[-1]

    assert sampling.drawn.id == draw(last.probabilities, u)
    assert sampling.drawn.start - 1e-6 <= u <= sampling.drawn.end + 1e-6
    assert sampling.survivors == int(last.kept.sum())
    assert sampling.steps == ("top-k 40",)
    for segment in sampling.segments:
        share = float(last.probabilities[segment.id])
        assert segment.end - segment.start == pytest.approx(share, abs=3e-6)
    ends = [segment.end for segment in sampling.segments]
    assert ends == sorted(ends)


def test_what_the_model_wrote_is_told_apart_and_waits_for_whole_characters(tiny_model):
    model = tiny_model("llama")
    ids = [token.id for token in model.tokenizer.encode("the sky🙂")]
    prompt_tokens = len(ids) - 4  # the emoji is four tokens, one a byte
    seen = trace(model, ids[:-1])
    settings = SamplingSettings(logit_bias={ids[-1]: 1000.0})

    facts = summarise(model, seen, settings, 0.5, prompt_tokens=prompt_tokens)
    assert (facts.text, facts.generated) == ("the sky", "")
    assert facts.detokenizer.released == "🙂"

    seen = trace(model, ids[:-2])
    settings = SamplingSettings(logit_bias={ids[-2]: 1000.0})
    facts = summarise(model, seen, settings, 0.5, prompt_tokens=prompt_tokens)
    assert (facts.detokenizer.released, facts.detokenizer.waiting) == ("", "f09f99")


def test_one_token_alone_has_an_overview_too(passed):
    model, seen = passed(text="W")
    facts = summarise(model, seen, SamplingSettings(temperature=0.0), 0.0)

    assert facts.head.pattern == ((1.0,),)
    assert (facts.head.reads, facts.head.weight, facts.head.offset) == (0, 1.0, None)
    assert facts.sampling.survivors == 1


def test_a_head_that_was_found_before_is_shown(passed):
    model, seen = passed()
    found = mattering_head(seen)
    assert summarise(model, seen, SamplingSettings(), 0.5, head=found).head is found


def test_the_lens_reads_late_layers(passed):
    model, seen = passed()
    layers = seen.architecture.layers
    facts = summarise(model, seen, SamplingSettings(), 0.5)
    assert facts.lens[-1].layers == layers
    assert all(fact.layers >= round(2 * layers / 3) for fact in facts.lens)
    assert [max(1, round(30 * share)) for share in DEPTHS] == [20, 26, 28, 29, 30]


def test_a_chat_turn_is_told_as_turns(tiny_model):
    model = tiny_model("llama")
    ids = model.tokenizer.chat([{"role": "user", "content": "the sky"}])
    facts = summarise(model, trace(model, ids), SamplingSettings(), 0.5, chat=True)
    assert [(turn.role, turn.text) for turn in facts.turns] == [
        ("user", "the sky"),
        ("assistant", ""),
    ]


def test_facts_survive_json(passed):
    model, seen = passed()
    facts = summarise(model, seen, SamplingSettings(), 0.5)

    assert Overview.from_json(json.loads(json.dumps(facts.to_json()))) == facts
    with pytest.raises(ValueError, match="lens"):
        Overview.from_json({k: v for k, v in facts.to_json().items() if k != "lens"})
    with pytest.raises(ValueError, match="type"):
        Overview.from_json({**facts.to_json(), "prompt_tokens": "six"})


@pytest.mark.slow
def test_reading_a_recording_loads_no_torch():
    code = (
        "import sys, components.overview.recorded as r; r.recorded_run();"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.real
def test_the_recording_is_what_the_engine_gives(real_model):
    recorded, u = recorded_run()[0], uniforms(SEED, 1)[0]
    ids = [token.id for token in real_model.tokenizer.encode(recorded.text, add_bos=True)]
    seen = trace(real_model, ids)
    fresh = summarise(real_model, seen, SETTINGS, u, prompt_tokens=len(ids))

    assert without_measures(fresh) == without_measures(recorded)
    for mine, theirs in zip(measures(fresh), measures(recorded), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=2e-3)
    # Which tokens are best, and in which order, may change between near ties.
    for fact in recorded.lens:
        assert_read(fact.id, seen, fact.layers)
    assert_ranking([fact.id for fact in recorded.candidates], seen.logits)
    last = run_chain(seen.logits, SETTINGS, seen.ids)[-1].probabilities
    assert_drawn(recorded.sampling.drawn.id, last, u)
    segments = [part.id for part in recorded.sampling.segments]
    assert_ranking(sorted(segments, key=lambda i: -last[i]), last, near=SHARES)


@pytest.mark.real
def test_the_recorded_tokens_are_what_generate_writes(real_model):
    recorded = recorded_run()[:4]
    ids = [token.id for token in recorded[0].tokens]
    run = list(generate(real_model, ids, SETTINGS, max_new_tokens=4, seed=SEED))
    expected = [step.sampling.drawn.id for step in recorded]
    u = uniforms(SEED, 4)
    assert_same_text(real_model, ids, [step.id for step in run], expected, SETTINGS, u)


def measures(facts):
    """Return what floating point may move a little from machine to machine."""
    return [
        facts.embedding.values,
        facts.position.angles,
        facts.head.pattern,
        facts.residual_norms,
        facts.head.weight,
        [facts.head.removal.before, facts.head.removal.after],
        [fact.probability for fact in facts.lens],
        [fact.logit for fact in facts.candidates],
        [fact.probability for fact in facts.candidates],
        [part.end - part.start for part in facts.sampling.segments],
    ]


def without_measures(facts):
    """Return everything that must be equal to the letter."""
    return (
        facts.text,
        facts.tokens,
        facts.prompt_tokens,
        facts.architecture,
        facts.cache,
        replace(
            facts.head,
            pattern=(),
            weight=0.0,
            removal=replace(facts.head.removal, before=0.0, after=0.0),
        ),
        [fact.layers for fact in facts.lens],
        (facts.sampling.u, facts.sampling.temperature, facts.sampling.steps),
    )
