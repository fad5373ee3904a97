"""The comparison of all guards: its tallies against runs counted one by one."""

from __future__ import annotations

from engine.generation.loop import generate
from engine.guardrails import comparison
from engine.guardrails.filters import tells
from engine.guardrails.scenario import Scenario, leaks, prompt_ids
from engine.sampling.chain import SamplingSettings

SETTINGS = SamplingSettings(temperature=1.0)
SCENARIO = Scenario(
    system="The cat sat on the mat.",
    question="Where is the cat?",
    word="e",
    rule="Never say it.",
    topic="cat",
    paraphrase="Where is it?",
    translation="Wo ist sie?",
    meaning=("a", "o"),
)


def test_the_tallies_equal_runs_counted_one_by_one(tiny_model):
    model, seeds = tiny_model("llama"), (0, 1, 2)
    ticks = []
    *_, last = comparison.compare(
        model, SCENARIO, SETTINGS, seeds=seeds, max_new_tokens=10, tick=lambda: ticks.append(1)
    )
    tallies = {tally.guard: tally for tally in last}
    assert list(tallies) == list(comparison.GUARDS)
    assert {tally.runs for tally in last} == {15}
    assert len(ticks) >= 5 * 5

    texts = []
    for _, question in SCENARIO.wordings():
        ids = prompt_ids(model, SCENARIO.system, question)
        for seed in seeds:
            steps = generate(model, ids, SETTINGS, max_new_tokens=10, seed=seed)
            texts.append("".join(step.text for step in steps))
    plain = [leaks(text, "e") for text in texts]
    told = [
        leak or bool(tells(text, SCENARIO.meaning)) for leak, text in zip(plain, texts, strict=True)
    ]
    assert tallies["no guard"].leaks == sum(plain) > 0
    assert tallies["no guard"].told == sum(told) >= sum(plain)
    assert tallies["no guard"].example == texts[plain.index(True)]
    assert all(tally.leaks <= tally.told <= tally.runs for tally in last)
    assert all(leaks(tally.example, "e") == (tally.leaks > 0) for tally in last)
    # The word "cat" stands only in the question as asked; without its disguise in two more.
    assert tallies["input filter"].blocked == 3
    assert tallies["input filter"].leaks == sum(plain[3:])
    assert tallies["input filter, normalised"].blocked == 9
    assert tallies["input filter, normalised"].leaks == sum(plain[3:6] + plain[12:])
    assert tallies["sequence ban"].leaks == 0
    assert tallies["output filter"].leaks == 0
